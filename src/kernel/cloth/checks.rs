//! Tests of a membrane's triangle as a whole: forces, stiffness, friction.

use approx::assert_relative_eq;
use nalgebra::{Matrix2, Matrix3, Matrix3x2, SMatrix, SVector, Vector2, Vector3};
use simba::simd::{SimdValue, WideF32x8};

use super::membrane::Membrane;
use super::strain::{PlaneTensor, green_strain, strain_rate};
use super::tangent::{TangentModuli, store_all_pairs};
use super::triangle::{
    deformation, edge_pair, nodal_forces, rest_area, rest_inverse, shape_gradients,
};
use crate::kernel::scalar::Scalar;
use crate::kernel::testing::Random;

const CLOTH: Membrane<f64> = Membrane {
    warp_modulus: 40.0,
    weft_modulus: 25.0,
    coupling_modulus: 10.0,
    shear_modulus: 5.0,
    locking_strain: 0.07,
    locking_factor: 8.0,
};
const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

struct Triangle {
    inverse: Matrix2<f64>,
    area: f64,
}

impl Triangle {
    fn draw(random: &mut Random) -> (Self, [Vector2<f64>; 3]) {
        loop {
            let rest = [(); 3].map(|()| random.vector(1.0).xy());
            let (inverse, area) = (rest_inverse(&rest), rest_area(&rest));
            if area > 0.2 {
                return (Self { inverse, area }, rest);
            }
        }
    }

    fn deformation(&self, corners: &[Vector3<f64>; 3]) -> Matrix3x2<f64> {
        deformation(&edge_pair(corners), &self.inverse)
    }

    fn energy(&self, corners: &[Vector3<f64>; 3]) -> f64 {
        CLOTH.energy_density(&green_strain(&self.deformation(corners))) * self.area
    }

    fn forces(&self, corners: &[Vector3<f64>; 3]) -> [Vector3<f64>; 3] {
        let deformation = self.deformation(corners);
        let stress = CLOTH.second_stress(&green_strain(&deformation));
        nodal_forces(&deformation, &stress, &self.inverse, self.area)
    }

    fn edge_gradients(&self) -> [Vector2<f64>; 2] {
        let [_, first, second] = shape_gradients(&self.inverse);
        [first, second]
    }

    fn stiffness(
        &self,
        moduli: &TangentModuli<f64>,
        deformation: &Matrix3x2<f64>,
        stress: &PlaneTensor<f64>,
    ) -> SMatrix<f64, 9, 9> {
        let gradients = self.edge_gradients();
        let blocks = moduli.node_stiffness(deformation, stress, &gradients, self.area);
        let mut full = SMatrix::<f64, 9, 9>::zeros();
        let mut order = Vec::new();
        store_all_pairs(&blocks, |pair, block| {
            let (a, b) = PAIRS[pair];
            full.fixed_view_mut::<3, 3>(3 * b, 3 * a)
                .copy_from(&block.transpose());
            full.fixed_view_mut::<3, 3>(3 * a, 3 * b).copy_from(block);
            order.push(pair);
        });
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        full
    }
}

fn stretched(random: &mut Random, rest: &[Vector2<f64>; 3], u: f64, v: f64) -> [Vector3<f64>; 3] {
    let (turn, shift) = (random.rotation(), random.vector(2.0));
    rest.map(|x| turn * Vector3::new(x.x * u, x.y * v, 0.0) + shift)
}

#[test]
fn forces_are_minus_the_gradient_of_the_energy_and_have_no_sum_and_no_torque() {
    let mut random = Random::new(80);
    for _ in 0..50 {
        let (triangle, _) = Triangle::draw(&mut random);
        let corners = [(); 3].map(|()| random.vector(1.0));
        let forces = triangle.forces(&corners);
        let size = forces
            .iter()
            .fold(1.0, |size: f64, force| size.max(force.amax()));
        let step = 1e-6;
        for corner in 0..3 {
            for axis in 0..3 {
                let energy = |offset: f64| {
                    let mut moved = corners;
                    moved[corner][axis] += offset;
                    triangle.energy(&moved)
                };
                let slope = (energy(step) - energy(-step)) / (2.0 * step);
                assert_relative_eq!(forces[corner][axis], -slope, epsilon = 1e-7 * size);
            }
        }
        let mut torque = Vector3::zeros();
        for (corner, force) in corners.iter().zip(&forces) {
            torque += corner.cross(force);
        }
        let total = forces[0] + forces[1] + forces[2];
        assert!(total.amax() < 1e-14 * size && torque.amax() < 1e-13 * size);
    }
}

#[test]
fn rigid_motion_keeps_the_energy_and_turns_the_forces() {
    let mut random = Random::new(81);
    for _ in 0..20 {
        let (triangle, rest) = Triangle::draw(&mut random);
        let corners = [(); 3].map(|()| random.vector(1.0));
        let (turn, shift) = (random.rotation(), random.vector(3.0));
        let moved = corners.map(|corner| turn * corner + shift);
        let energy = triangle.energy(&corners);
        assert_relative_eq!(triangle.energy(&moved), energy, max_relative = 1e-12);
        let forces = triangle.forces(&corners);
        for (after, before) in triangle.forces(&moved).iter().zip(&forces) {
            let size = before.norm().max(1.0);
            assert_relative_eq!(*after, turn * before, epsilon = 1e-12 * size);
        }
        let placed = stretched(&mut random, &rest, 1.0, 1.0);
        assert!(triangle.energy(&placed) < 1e-26);
    }
}

#[test]
fn stiffness_is_the_second_derivative_in_tension_and_semidefinite_always() {
    let mut random = Random::new(82);
    // Both directions below locking, and both beyond it.
    for (u, v) in [(1.03, 1.05), (1.2, 1.1), (1.02, 1.3)] {
        let (triangle, rest) = Triangle::draw(&mut random);
        let corners = stretched(&mut random, &rest, u, v);
        let deformation = triangle.deformation(&corners);
        let strain = green_strain(&deformation);
        let stress = CLOTH.second_stress(&strain);
        let stiffness = triangle.stiffness(&CLOTH.tangent(&strain, 0.0), &deformation, &stress);
        let step = 1e-6;
        for column in 0..9 {
            let forces = |offset: f64| {
                let mut moved = corners;
                moved[column / 3][column % 3] += offset;
                let forces = triangle.forces(&moved);
                SVector::<f64, 9>::from_fn(|row, _| forces[row / 3][row % 3])
            };
            let slope = (forces(-step) - forces(step)) / (2.0 * step);
            let found = stiffness.column(column).into_owned();
            assert_relative_eq!(found, slope, epsilon = 1e-6 * stiffness.amax());
        }
    }
    for _ in 0..200 {
        let (triangle, _) = Triangle::draw(&mut random);
        let corners = [(); 3].map(|()| random.vector(1.0));
        let deformation = triangle.deformation(&corners);
        let strain = green_strain(&deformation);
        let stress = CLOTH.second_stress(&strain);
        let moduli = CLOTH.tangent(&strain, random.between(0.0, 2.0));
        let stiffness = triangle.stiffness(&moduli, &deformation, &stress);
        assert_eq!(stiffness, stiffness.transpose());
        let eigenvalues = stiffness.symmetric_eigenvalues();
        assert!(eigenvalues.min() >= -1e-13 * eigenvalues.max());
    }
}

#[test]
fn compression_leaves_the_stiffness_of_the_material_alone() {
    let mut random = Random::new(83);
    let (triangle, rest) = Triangle::draw(&mut random);
    let corners = stretched(&mut random, &rest, 0.9, 0.8);
    let deformation = triangle.deformation(&corners);
    let strain = green_strain(&deformation);
    let moduli = CLOTH.tangent(&strain, 0.0);
    let none = strain * 0.0;
    let pressed = triangle.stiffness(&moduli, &deformation, &CLOTH.second_stress(&strain));
    assert_eq!(pressed, triangle.stiffness(&moduli, &deformation, &none));
}

#[test]
fn implicit_friction_has_its_stiffness() {
    let mut random = Random::new(84);
    let (damping_time, step) = (2e-3, 1e-2);
    let (triangle, rest) = Triangle::draw(&mut random);
    let corners = stretched(&mut random, &rest, 1.04, 1.05);
    let before = green_strain(&triangle.deformation(&stretched(&mut random, &rest, 1.0, 1.0)));
    let stress_at = |strain: &PlaneTensor<f64>| {
        let rate = (*strain - before) * (1.0 / step);
        CLOTH.second_stress(strain) + CLOTH.viscous_stress(&rate, damping_time)
    };
    let deformation = triangle.deformation(&corners);
    let strain = green_strain(&deformation);
    let moduli = CLOTH.tangent(&strain, damping_time / step);
    let stiffness = triangle.stiffness(&moduli, &deformation, &stress_at(&strain));
    let change = 1e-6;
    for column in 0..9 {
        let forces = |offset: f64| {
            let mut moved = corners;
            moved[column / 3][column % 3] += offset;
            let deformation = triangle.deformation(&moved);
            let stress = stress_at(&green_strain(&deformation));
            let forces = nodal_forces(&deformation, &stress, &triangle.inverse, triangle.area);
            SVector::<f64, 9>::from_fn(|row, _| forces[row / 3][row % 3])
        };
        let slope = (forces(-change) - forces(change)) / (2.0 * change);
        let found = stiffness.column(column).into_owned();
        assert_relative_eq!(found, slope, epsilon = 1e-6 * stiffness.amax());
    }
}

#[test]
fn power_of_the_friction_is_what_its_forces_take() {
    let mut random = Random::new(85);
    for _ in 0..20 {
        let (triangle, _) = Triangle::draw(&mut random);
        let corners = [(); 3].map(|()| random.vector(1.0));
        let velocities = [(); 3].map(|()| random.vector(1.0));
        let rate = strain_rate(
            &triangle.deformation(&corners),
            &triangle.deformation(&velocities),
        );
        let stress = CLOTH.viscous_stress(&rate, 1e-2);
        let forces = nodal_forces(
            &triangle.deformation(&corners),
            &stress,
            &triangle.inverse,
            triangle.area,
        );
        let taken: f64 = forces.iter().zip(&velocities).map(|(f, v)| -f.dot(v)).sum();
        let power = CLOTH.viscous_power_density(&rate, 1e-2) * triangle.area;
        assert_relative_eq!(taken, power, max_relative = 1e-11);
    }
}

#[test]
fn bound_is_above_the_largest_eigenvalue_and_not_far() {
    let mut random = Random::new(86);
    for round in 0..300 {
        let (triangle, rest) = Triangle::draw(&mut random);
        let corners = if round % 2 == 0 {
            let (u, v) = (random.between(0.7, 1.3), random.between(0.7, 1.3));
            stretched(&mut random, &rest, u, v)
        } else {
            [(); 3].map(|()| random.vector(1.0))
        };
        let deformation = triangle.deformation(&corners);
        let strain = green_strain(&deformation);
        let stress = CLOTH.second_stress(&strain);
        let moduli = CLOTH.tangent(&strain, 0.0);
        let stiffness = triangle.stiffness(&moduli, &deformation, &stress);
        let largest = stiffness.symmetric_eigenvalues().max();
        let gradients = shape_gradients(&triangle.inverse);
        let bound = moduli.stiffness_bound(&deformation, &stress, &gradients, triangle.area);
        assert!(bound >= largest * (1.0 - 1e-12));
        assert!(bound <= 2.0 * largest, "{bound} {largest}");
    }
}

#[test]
fn lanes_equal_scalars() {
    let mut random = Random::new(87);
    let drawn: Vec<_> = (0..8)
        .map(|_| {
            let (triangle, _) = Triangle::draw(&mut random);
            let corners = [(); 3].map(|()| random.vector(1.0).cast::<f32>());
            (
                triangle.inverse.cast::<f32>(),
                triangle.area as f32,
                corners,
            )
        })
        .collect();
    let splat = WideF32x8::splat;
    let mut inverse = Matrix2::from_element(splat(0.0));
    let mut area = splat(0.0);
    let mut corners = [Vector3::from_element(splat(0.0)); 3];
    for (lane, (one, size, points)) in drawn.iter().enumerate() {
        inverse.replace(lane, *one);
        area.replace(lane, *size);
        for (corner, point) in corners.iter_mut().zip(points) {
            corner.replace(lane, *point);
        }
    }
    let law = |value: fn(f64) -> f32| Membrane {
        warp_modulus: value(CLOTH.warp_modulus),
        weft_modulus: value(CLOTH.weft_modulus),
        coupling_modulus: value(CLOTH.coupling_modulus),
        shear_modulus: value(CLOTH.shear_modulus),
        locking_strain: value(CLOTH.locking_strain),
        locking_factor: value(CLOTH.locking_factor),
    };
    let single = law(|value| value as f32);
    let packed = Membrane {
        warp_modulus: splat(single.warp_modulus),
        weft_modulus: splat(single.weft_modulus),
        coupling_modulus: splat(single.coupling_modulus),
        shear_modulus: splat(single.shear_modulus),
        locking_strain: splat(single.locking_strain),
        locking_factor: splat(single.locking_factor),
    };
    let side_by_side = run(&packed, &inverse, area, &corners, splat(0.2));
    for (lane, (inverse, area, corners)) in drawn.iter().enumerate() {
        let alone = run(&single, inverse, *area, corners, 0.2);
        for (all, one) in side_by_side.0.iter().zip(&alone.0) {
            assert_eq!(all.extract(lane), *one);
        }
        for (all, one) in side_by_side.1.iter().zip(&alone.1) {
            assert_eq!(all.extract(lane), *one);
        }
        for (all, one) in side_by_side.2.iter().zip(&alone.2) {
            assert_eq!(all.extract(lane), *one);
        }
    }
}

fn run<T: Scalar>(
    law: &Membrane<T>,
    inverse: &Matrix2<T>,
    area: T,
    corners: &[Vector3<T>; 3],
    damping: T,
) -> ([Vector3<T>; 3], [Matrix3<T>; 3], [T; 2]) {
    let deformation = deformation(&edge_pair(corners), inverse);
    let strain = green_strain(&deformation);
    let stress = law.second_stress(&strain) + law.viscous_stress(&strain, damping);
    let moduli = law.tangent(&strain, damping);
    let gradients = shape_gradients(inverse);
    let edges = [gradients[1], gradients[2]];
    (
        nodal_forces(&deformation, &stress, inverse, area),
        moduli.node_stiffness(&deformation, &stress, &edges, area),
        [
            law.energy_density(&strain),
            moduli.stiffness_bound(&deformation, &stress, &gradients, area),
        ],
    )
}
