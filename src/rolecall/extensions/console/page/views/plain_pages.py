"""Pages that hold nothing of the operator: logging in, and what went wrong."""

from __future__ import annotations

from rolecall.extensions.console.page.views.html import el
from rolecall.extensions.console.page.views.layout import PageLayout, page

LOGIN_TITLE = "Log in"


def login(layout: PageLayout, problem: str = "", *, is_local: bool = False, back: str = "/") -> str:
    told = el("p", problem, class_="problem", role="alert") if problem else None
    if is_local:
        return page(
            LOGIN_TITLE,
            layout,
            told,
            el("p", "Open the address that the operator printed when it started: it has a token."),
        )
    form = el(
        "form",
        el("input", type="hidden", name="back", value=back),
        el(
            "label",
            "Token of your user, or of a ServiceAccount",
            el(
                "input",
                type="password",
                name="token",
                required=True,
                autocomplete="off",
                spellcheck="false",
            ),
        ),
        el("button", "Log in", type="submit"),
        method="post",
        action="/login",
        class_="login",
    )
    hint = el(
        "p",
        el("code", "rolecall page"),
        " opens this page with the login of your kubeconfig. A token for a while: ",
        el("code", "kubectl create token NAME"),
        ".",
    )
    return page(LOGIN_TITLE, layout, told, el("div", form, hint, class_="card"))


def error(code: int, what: str, way_out: str, layout: PageLayout) -> str:
    return page(what, layout, el("p", way_out), el("p", f"HTTP {code}", class_="none"))
