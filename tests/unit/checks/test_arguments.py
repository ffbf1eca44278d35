from __future__ import annotations

from pathlib import Path

from tests.unit.checks.workshop import ARGUMENTS, CRD, WATCHES, Workshop, only


def test_required_argument_for_an_optional_key_is_reported(workshop: Workshop) -> None:
    workshop.replace(CRD, "              required: [size]\n", "")

    warning = only(workshop.warnings())

    assert f"{ARGUMENTS}:4: warning: argument `demo_size` is required, but `spec.size`" in warning
    assert f"hint: list `size` under `required` in {CRD}" in warning


def test_default_in_crd_or_role_covers_a_key_that_is_left_out(workshop: Workshop) -> None:
    workshop.replace(CRD, "              required: [size]\n", "")
    workshop.write("roles/demo/defaults/main.yml", 'demo_size: "{{ size | default(1) }}"\n')
    assert workshop.warnings() == []

    workshop.write("roles/demo/defaults/main.yml", 'demo_size: "{{ size }}"\n')
    workshop.replace(CRD, "size: {type: integer}", "size: {type: integer, default: 1}")
    assert workshop.warnings() == []


def test_key_without_argument_is_reported(workshop: Workshop) -> None:
    workshop.replace(CRD, "imageName:", "pictureName: {type: string}\n                imageName:")

    assert "`spec.pictureName` of `Demo` has no argument" in only(workshop.warnings())


def test_argument_without_key_is_reported_with_the_nearest_key(workshop: Workshop) -> None:
    workshop.replace(ARGUMENTS, "image_name: {", "image_names: {")

    no_argument, no_key = workshop.warnings()

    assert "`spec.imageName` of `Demo` has no argument" in no_argument
    assert "argument `image_names` is not in the spec of `Demo`" in no_key
    assert "did you mean `image_name`?" in no_key


def test_argument_with_a_value_of_its_own_is_the_roles_business(workshop: Workshop) -> None:
    workshop.replace(ARGUMENTS, "      state:", "      retry: {default: 5s}\n      state:")

    assert workshop.warnings() == []


def test_types_that_do_not_fit_are_reported(workshop: Workshop) -> None:
    workshop.replace(ARGUMENTS, "{type: int, required", "{type: list, required")

    assert "argument `demo_size` is `list`, but `spec.size` is `integer`" in only(
        workshop.warnings()
    )


def test_values_that_differ_are_reported(workshop: Workshop) -> None:
    workshop.replace(ARGUMENTS, "choices: [a, b]", "choices: [a, c]")

    warning = only(workshop.warnings())

    assert "allow different values" in warning
    assert "choices: a, c\n  enum: b, a" in warning


def test_arguments_in_meta_main_count_too(workshop: Workshop) -> None:
    (workshop.folder / ARGUMENTS).rename(workshop.folder / "roles/demo/meta/main.yml")
    workshop.replace("roles/demo/meta/main.yml", "{type: int, required", "{type: list, required")

    assert "roles/demo/meta/main.yml:4" in only(workshop.warnings())


def test_default_that_reads_the_unconverted_spec_pairs_key_and_argument(workshop: Workshop) -> None:
    workshop.replace(ARGUMENTS, "image_name: {", "picture: {required: true, ")
    workshop.write(
        "roles/demo/defaults/main.yml",
        'demo_size: "{{ size }}"\npicture: "{{ _demo_example_com_demo_spec[\'imageName\'] }}"\n',
    )

    assert "argument `picture` is required, but `spec.imageName` may be left out" in only(
        workshop.warnings()
    )


def test_without_snake_case_arguments_are_spelled_as_in_the_crd(workshop: Workshop) -> None:
    workshop.replace(WATCHES, "  role: demo\n", "  role: demo\n  snakeCaseParameters: false\n")
    assert len(workshop.warnings()) == 2

    workshop.replace(ARGUMENTS, "image_name", "imageName")
    assert workshop.warnings() == []


def test_role_without_argument_specs_is_left_alone(workshop: Workshop) -> None:
    workshop.remove(ARGUMENTS)

    assert workshop.warnings() == []
    assert not Path(workshop.folder / ARGUMENTS).exists()
