//! Closed-form shapes, boxes and interpolation.

use super::*;

#[test]
fn sphere_is_hit_where_it_is() {
    let sphere = Sphere { radius: 0.5 };
    let hit = sphere
        .cast(&Vector3::new(2.0, 0.3, 0.0), &Vector3::new(-2.0, 0.3, 0.0))
        .unwrap();
    assert!((hit.point - Vector3::new(0.4, 0.3, 0.0)).norm() < 1e-6);
    assert!((hit.normal - Vector3::new(0.8, 0.6, 0.0)).norm() < 1e-6);
    assert!(
        sphere
            .cast(&Vector3::new(2.0, 0.6, 0.0), &Vector3::new(-2.0, 0.6, 0.0))
            .is_none()
    );
    let inside = sphere
        .cast(&Vector3::new(0.4, 0.0, 0.0), &Vector3::new(-2.0, 0.0, 0.0))
        .unwrap();
    assert_eq!((inside.fraction, inside.normal), (0.0, Vector3::x()));
    assert!(
        sphere
            .cast(&Vector3::new(0.4, 0.0, 0.0), &Vector3::new(2.0, 0.0, 0.0))
            .is_none()
    );
    assert_eq!(sphere.project(&Vector3::zeros()).distance, -0.5);
}

#[test]
fn transformed_bounds_hold_the_shape() {
    let bounds = Bounds {
        min: Vector3::new(-1.0, -0.1, -0.1),
        max: Vector3::new(1.0, 0.1, 0.1),
    };
    let pose = Isometry3::new(
        Vector3::new(0.0, 5.0, 0.0),
        Vector3::z() * std::f64::consts::FRAC_PI_4 as Real,
    );
    let turned = bounds.transformed(&pose);
    assert!((turned.max.y - (5.0 + 1.1 * 0.5f64.sqrt() as Real)).abs() < 1e-5);
    assert_eq!(
        Bounds::everything().transformed(&pose),
        Bounds::everything()
    );
    assert!(!Bounds::empty().overlaps(&Bounds::everything()) || !Bounds::empty().is_bounded());
}

#[test]
fn small_turns_keep_lengths() {
    let mut pose = Isometry3::identity();
    let far = Point3::new(1.0, 0.0, 0.0);
    let mut carried = far;
    for step in 0..2000 {
        let end = Isometry3::rotation(Vector3::y() * (0.004 * (step + 1) as Real));
        let between = interpolate_poses(&pose, &end, 0.3);
        carried = end
            * between.inverse_transform_point(&(between * pose.inverse_transform_point(&carried)));
        pose = end;
    }
    assert!((carried.coords.norm() - 1.0).abs() < 1e-3, "{carried}");
    assert!((pose.inverse_transform_point(&carried) - far).norm() < 1e-3);
}

#[test]
fn impulses_move_the_copy_at_once() {
    let mut body = RigidBodyState {
        entity: Entity::PLACEHOLDER,
        center_of_mass: Vector3::zeros(),
        linear_velocity: Vector3::zeros(),
        angular_velocity: Vector3::zeros(),
        inverse_mass: Vector3::repeat(0.5),
        inverse_inertia: Matrix3::identity() * 2.0,
        linear_impulse: Vector3::zeros(),
        angular_impulse: Vector3::zeros(),
    };
    body.apply_impulse(&Vector3::y(), &Vector3::x());
    assert_eq!(
        body.velocity_at(&Vector3::x()),
        Vector3::new(0.0, 0.5 + 2.0, 0.0)
    );
    assert_eq!(body.linear_impulse, Vector3::y());
}
