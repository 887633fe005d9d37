//! Nanoseconds per tetrahedron of the kernels, from edge matrices in the cache to forces or derivatives.
//!
//! `cargo bench --bench kernel`, or with a filter: `cargo bench --bench kernel -- 'forces/.*/f32 x 8'`.

#![allow(
    missing_docs,
    reason = "the macros of criterion make functions without any"
)]

use std::hint::black_box;

use bevy_pliant::kernel::elasticity::{Corotational, Elasticity, Liesenfeld, StableNeoHookean};
use bevy_pliant::kernel::moduli::Moduli;
use bevy_pliant::kernel::tetrahedron::{deformation_gradient, nodal_forces, shape_gradients};
use bevy_pliant::kernel::viscosity::Viscosity;
use bevy_pliant::kernel::{Scalar, real};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use nalgebra::{Matrix3, Vector3};
use simba::simd::{WideF32x8, WideF64x4};

/// Tetrahedra per sample: their data stay in the nearest caches.
const ELEMENTS: usize = 1024;

/// Edge matrices, their rates of change and inverse rest matrices, lanes filled.
struct Elements<T> {
    edges: Vec<Matrix3<T>>,
    rates: Vec<Matrix3<T>>,
    rest_inverses: Vec<Matrix3<T>>,
    forces: Vec<[Vector3<T>; 4]>,
}

impl<T: Scalar> Elements<T> {
    fn new() -> Self {
        let mut state = 1_u32;
        // Deformations of up to a third; all numbers differ, lanes included.
        let mut matrix = |scale: f64, diagonal: f64| {
            Matrix3::from_fn(|row, column| {
                let mut entry = T::zero();
                for lane in 0..T::LANES {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let random = f64::from(state >> 8) / f64::from(1 << 23) - 1.0;
                    let value = scale * (random + if row == column { diagonal } else { 0.0 });
                    entry.replace(lane, nalgebra::convert(value));
                }
                entry
            })
        };
        let count = ELEMENTS / T::LANES;
        Self {
            edges: (0..count).map(|_| matrix(0.01, 6.0)).collect(),
            rates: (0..count).map(|_| matrix(0.01, 0.0)).collect(),
            rest_inverses: (0..count).map(|_| matrix(2.0, 8.0)).collect(),
            forces: vec![[Vector3::zeros(); 4]; count],
        }
    }

    /// Computes a stress and the nodal forces from it, for every element.
    fn forces(&mut self, stress: impl Fn(&Matrix3<T>, &Matrix3<T>) -> Matrix3<T>) {
        let elements = self.edges.iter().zip(&self.rates).zip(&self.rest_inverses);
        for (((edges, rate), rest_inverse), forces) in elements.zip(&mut self.forces) {
            let stress = stress(
                &deformation_gradient(edges, rest_inverse),
                &deformation_gradient(rate, rest_inverse),
            );
            *forces = nodal_forces(&stress, rest_inverse, real(1e-6));
        }
        black_box(&self.forces);
    }
}

fn laws<T: Scalar>(criterion: &mut Criterion, scalar: &str) {
    law::<T, StableNeoHookean<T>>(criterion, "stable neo-Hookean", scalar);
    law::<T, Liesenfeld<T>>(criterion, "Liesenfeld", scalar);
    law::<T, Corotational<T>>(criterion, "corotational", scalar);

    let mut elements = Elements::<T>::new();
    let viscosity = Viscosity {
        volumetric: real(3.0),
        shear: real(2.0),
    };
    let mut group = criterion.benchmark_group("forces");
    group.throughput(Throughput::Elements(ELEMENTS as u64));
    group.bench_function(format!("viscosity/{scalar}"), |bencher| {
        bencher.iter(|| elements.forces(|deformation, rate| viscosity.stress(deformation, rate)));
    });
    group.finish();
}

fn law<T: Scalar, E: Elasticity<T>>(criterion: &mut Criterion, name: &str, scalar: &str) {
    let mut elements = Elements::<T>::new();
    let law = E::from_moduli(Moduli {
        bulk: real(22e3),
        shear: real(16e3),
    });
    let id = format!("{name}/{scalar}");

    let mut group = criterion.benchmark_group("forces");
    group.throughput(Throughput::Elements(ELEMENTS as u64));
    group.bench_function(&id, |bencher| {
        bencher.iter(|| elements.forces(|deformation, _| law.stress(deformation)));
    });
    group.finish();

    let mut group = criterion.benchmark_group("stress_differential");
    group.throughput(Throughput::Elements(ELEMENTS as u64));
    group.bench_function(&id, |bencher| {
        bencher.iter(|| {
            elements.forces(|deformation, change| law.stress_differential(deformation, change));
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("node_stiffness");
    group.throughput(Throughput::Elements(ELEMENTS as u64));
    group.bench_function(&id, |bencher| {
        bencher.iter(|| {
            for (edges, rest_inverse) in elements.edges.iter().zip(&elements.rest_inverses) {
                let deformation = deformation_gradient(edges, rest_inverse);
                let [_, first, second, third] = shape_gradients(rest_inverse);
                black_box(law.node_stiffness(&deformation, &[first, second, third]));
            }
        });
    });
    group.finish();

    let mut group = criterion.benchmark_group("hessian_psd");
    group.throughput(Throughput::Elements(ELEMENTS as u64));
    group.bench_function(&id, |bencher| {
        bencher.iter(|| {
            for (edges, rest_inverse) in elements.edges.iter().zip(&elements.rest_inverses) {
                let deformation = deformation_gradient(edges, rest_inverse);
                black_box(law.hessian_psd(&deformation));
            }
        });
    });
    group.finish();
}

fn kernels(criterion: &mut Criterion) {
    laws::<f32>(criterion, "f32");
    laws::<WideF32x8>(criterion, "f32 x 8");
    laws::<WideF64x4>(criterion, "f64 x 4");
}

fn quick_criterion() -> Criterion {
    // A machine shared with others: many short samples, of which the median counts.
    Criterion::default()
        .sample_size(60)
        .warm_up_time(std::time::Duration::from_millis(200))
        .measurement_time(std::time::Duration::from_millis(800))
        .without_plots()
}

criterion_group! {
    name = benches;
    config = quick_criterion();
    targets = kernels
}
criterion_main!(benches);
