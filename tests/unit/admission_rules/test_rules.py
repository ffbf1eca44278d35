from __future__ import annotations

from pathlib import Path

from rolecall.gvk import Gvk
from rolecall.json_object import Json
from rolecall.watches import Play, Watch
from rolecall.webhooks import Admission, AdmissionKeys, AdmissionRule
from rolecall_dev.admission_rules import policies_of, with_rules

KIND = Gvk("shop.example.com", "v1", "Basket")
BY_HAND = {"rule": "has(self.spec)", "message": "by hand"}


def watch(*rules: AdmissionRule, gvk: Gvk = KIND) -> Watch:
    return asking(Admission(rules=rules), gvk)


def asking(validate: Admission, gvk: Gvk = KIND) -> Watch:
    play = Play(Path("/roles/basket"), is_role=True)
    return Watch(gvk, play, of_extensions=(AdmissionKeys(validate),))


def of_schema(text: str) -> AdmissionRule:
    return AdmissionRule(text, f"not {text}", is_of_schema=True)


def crd() -> Json:
    def version(name: str) -> Json:
        schema = {"type": "object", "x-kubernetes-validations": [BY_HAND]}
        return {"name": name, "schema": {"openAPIV3Schema": schema}}

    names = {"kind": "Basket", "plural": "baskets"}
    spec = {"group": KIND.group, "names": names, "versions": [version("v1"), version("v2")]}
    return {"kind": "CustomResourceDefinition", "metadata": {"name": "baskets"}, "spec": spec}


def rules_of(definition: Json) -> list[list[str]]:
    """Of each version."""
    return [
        [
            rule["rule"]
            for rule in version["schema"]["openAPIV3Schema"].get("x-kubernetes-validations", ())
        ]
        for version in definition["spec"]["versions"]
    ]


def test_rules_of_the_schema_stand_beside_those_that_were_written_by_hand() -> None:
    before = crd()
    written = with_rules(before, [watch(of_schema("self.spec.size > 0"))])
    assert rules_of(written) == [["has(self.spec)", "self.spec.size > 0"], ["has(self.spec)"]]
    assert before == crd()


def test_writing_again_changes_nothing() -> None:
    rules = [watch(of_schema("self.spec.size > 0"), of_schema("self.spec.size < 9"))]
    written = with_rules(crd(), rules)
    assert with_rules(written, rules) == written


def test_rule_that_is_said_no_more_goes_and_the_others_stay() -> None:
    written = with_rules(crd(), [watch(of_schema("self.spec.size > 0"))])
    changed = with_rules(written, [watch(of_schema("self.spec.size > 1"))])
    assert rules_of(changed)[0] == ["has(self.spec)", "self.spec.size > 1"]
    assert with_rules(changed, []) == crd()


def test_other_kinds_and_rules_about_requests_leave_a_crd_alone() -> None:
    other = watch(of_schema("self.x"), gvk=Gvk("shop.example.com", "v1", "Other"))
    assert with_rules(crd(), [other, watch(AdmissionRule("object.x", "no"))]) == crd()


def test_rules_about_requests_are_a_policy_and_its_binding() -> None:
    asked = Admission(
        rules=(AdmissionRule("object.x == 1", "one"), of_schema("self.x")),
        operations=("CREATE",),
        subresources=("scale",),
        failure_policy="Ignore",
        match_conditions=({"name": "a", "expression": "true"},),
        namespace_selector={"matchLabels": {"team": "a"}},
    )
    play = Play(Path("/roles/basket"), is_role=True)
    policy, binding = policies_of(
        [asking(asked), watch(of_schema("self.x")), Watch(KIND, play)],
        lambda gvk: "baskets",
        own_user="system:serviceaccount:a:it's",
    )
    name = "v1.basket.shop.example.com"
    assert binding["spec"] == {"policyName": name, "validationActions": ["Deny"]}
    assert (policy["kind"], policy["metadata"]["name"]) == ("ValidatingAdmissionPolicy", name)
    spec = policy["spec"]
    assert spec["failurePolicy"] == "Ignore"
    assert spec["validations"] == [{"expression": "object.x == 1", "message": "one"}]
    assert spec["matchConstraints"]["resourceRules"][0]["resources"] == ["baskets", "baskets/scale"]
    assert spec["matchConstraints"]["namespaceSelector"] == {"matchLabels": {"team": "a"}}
    assert spec["matchConditions"][-1] == {
        "name": "not-the-operator",
        "expression": "request.userInfo.username != 'system:serviceaccount:a:it\\'s'",
    }
