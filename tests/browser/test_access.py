"""Ways in and out in a browser: invitations, links for a new password, sessions and API tokens."""

import re

import pyotp
import pytest
from playwright.sync_api import expect

from acceptance import texts
from acceptance.client import PASSWORD, Traceline, created
from acceptance.waiting import eventually

from . import axe
from .session import PageOf, in_new_project


def test_who_is_invited_chooses_a_password_and_is_in(page_of: PageOf, admin: Traceline) -> None:
    page = page_of(admin, "/admin/users").page
    email = texts.email()
    page.get_by_role("button", name="Invite").click()
    page.get_by_role("textbox", name="Email").fill(email)
    page.get_by_role("button", name="Create invitation link").click()
    link = page.get_by_role("dialog", name=f"Invitation for {email}").locator("code").inner_text()

    another = page_of("viewer", "~" + link[link.index("/accept-invitation") :]).page
    expect(another.get_by_role("main").get_by_role("alert")).to_contain_text("You are signed in as")
    expect(another.get_by_label("Password")).to_have_count(0)

    invited = page_of("nobody", "~" + link[link.index("/accept-invitation") :])
    invited.page.get_by_label("Name").fill("Kim Invited")
    invited.page.get_by_label("Password").fill("password1")
    invited.page.get_by_role("button", name="Create account").click()
    expect(invited.page.get_by_label("Password")).to_have_accessible_description(re.compile("guess|common", re.I))
    invited.complaints.clear()
    invited.page.get_by_label("Password").fill(PASSWORD)
    invited.page.keyboard.press("Enter")
    expect(invited.page.get_by_role("button", name="Kim Invited")).to_contain_text("viewer")

    late = page_of("nobody", "~" + link[link.index("/accept-invitation") :])
    late.page.get_by_label("Name").fill("Kim Late")
    late.page.get_by_label("Password").fill(PASSWORD)
    late.page.keyboard.press("Enter")
    expect(late.page.get_by_role("main").get_by_role("alert")).to_contain_text("works no more")
    late.complaints.clear()


def test_a_link_of_an_admin_leads_to_a_new_password(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("viewer").me()
    page = page_of(admin, f"/admin/users?search={somebody['email']}").page
    page.get_by_role("button", name=f"Actions for {somebody['full_name']}").click()
    page.get_by_role("button", name="Create a link for a new password").click()
    link = page.get_by_role("dialog").locator("code").inner_text()

    another = page_of("viewer", "~" + link[link.index("/reset-password") :]).page
    expect(another.get_by_role("main").get_by_role("alert")).to_contain_text("You are signed in as")

    anew = page_of("nobody", "~" + link[link.index("/reset-password") :]).page
    anew.get_by_label("New password").fill("another good password")
    anew.keyboard.press("Enter")
    expect(anew.get_by_text("Your new password is set.")).to_be_visible()
    anew.get_by_role("link", name="Sign in").click()
    anew.get_by_label("Email").fill(somebody["email"])
    anew.get_by_label("Password").fill("another good password")
    anew.keyboard.press("Enter")
    expect(anew.get_by_role("button", name=somebody["full_name"])).to_be_visible()

    incomplete = page_of("nobody", "~/reset-password")
    incomplete.page.get_by_label("New password").fill("another good password")
    incomplete.page.keyboard.press("Enter")
    expect(incomplete.page.get_by_role("main").get_by_role("alert")).to_contain_text("not complete")
    incomplete.complaints.clear()


def test_a_password_that_an_admin_chose_is_changed_first(page_of: PageOf, admin: Traceline) -> None:
    body = {"email": texts.email(), "full_name": "Kim New", "password": PASSWORD, "must_change_password": True}
    created(admin.post("/users", json=body))
    visit = page_of("nobody", "~/sign-in")
    page = visit.page
    with_form = page.get_by_text("Sign in with another account")
    if with_form.is_visible():
        with_form.click()
    page.get_by_label("Email").fill(body["email"])
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Choose a password of your own")
    page.get_by_label("Current password").fill(PASSWORD)
    page.get_by_label("New password").fill("another good password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Kim New")).to_be_visible()
    assert all("403" in said for said in visit.complaints)
    visit.complaints.clear()


def test_sessions_and_tokens_are_made_seen_and_ended(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("reviewer")
    visit = page_of(somebody, "/account")
    page = visit.page
    expect(page.get_by_text("This browser")).to_be_visible()
    page.get_by_role("button", name="Sign out everywhere else").click()
    eventually(lambda: somebody.get("/auth/me").status_code, "the end of the other session", equals=401)

    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("Send test results").check()
    page.get_by_label("Only in these projects").fill("дверь")
    page.get_by_label("Days until it ends").fill("99999999999")
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("is no key of a project")).to_be_visible()
    expect(page.get_by_text("lives for a year at most")).to_be_visible()
    assert all("422" in said for said in visit.complaints)
    visit.complaints.clear()
    page.get_by_label("Only in these projects").fill("main")
    page.get_by_label("Days until it ends").fill("1")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_role("dialog", name="Copy the token now").locator("code").inner_text()
    assert token.startswith("tlp_")
    program = somebody.with_token(token)
    eventually(lambda: program.get("/requirements").status_code, "the gateway to know the token", equals=200)
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Revoke nightly").click()
    expect(page.get_by_role("button", name="Revoke nightly")).to_be_hidden()
    eventually(lambda: program.get("/requirements").status_code, "the end of the token", equals=401)


def test_a_second_factor_is_switched_on_and_asked_for(page_of: PageOf, admin: Traceline) -> None:
    somebody = admin.new_user("viewer")
    email = somebody.me()["email"]
    page = page_of(somebody, "/account").page
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("dialog").get_by_label("Current password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    dialog = page.get_by_role("dialog", name="Second factor")
    expect(dialog.get_by_role("img", name="QR code of the secret")).to_be_visible()
    phone = pyotp.TOTP(dialog.locator("code").inner_text())
    dialog.get_by_label("Code").fill(phone.now())
    page.get_by_role("button", name="Confirm").click()
    codes = page.get_by_role("dialog", name="Keep these recovery codes").locator("code").inner_text().split()
    assert len(codes) == 10
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_text("10 recovery codes are left")).to_be_visible()

    visit = page_of("nobody", "~/sign-in")
    page = visit.page
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_label("Code").fill("000000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main").get_by_role("alert")).to_contain_text("The code is wrong")
    page.get_by_label("Code").fill(codes[0])
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page).not_to_have_url(re.compile("sign-in"))
    assert all("401" in said for said in visit.complaints)
    visit.complaints.clear()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_service_account_of_a_project_gets_a_token_for_it_alone(
    page_of: PageOf, admin: Traceline, theme: str
) -> None:
    within = in_new_project(admin)
    page = page_of(admin, f"~/p/{within.project}/settings", theme=theme, width=320).page
    page.get_by_role("button", name="New service account").click()
    page.get_by_label("Name").last.fill("ci")
    page.get_by_role("button", name="Create account").click()
    page.get_by_role("button", name="New token").click()
    page.get_by_role("dialog").get_by_label("Name").fill("nightly")
    page.get_by_role("button", name="Create token").click()
    token = page.get_by_role("dialog", name="Copy the token now").locator("code").inner_text()
    program = within.with_token(token)
    eventually(lambda: program.get("/requirements").status_code, "the gateway to know the token", equals=200)
    assert program.within("MAIN").get("/requirements").status_code in (403, 404)
    page.get_by_role("button", name="Close").click()
    expect(page.get_by_role("button", name="Revoke nightly")).to_be_visible()
    assert axe.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320

    page.get_by_role("button", name="Delete ci").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="Delete ci")).to_have_count(0)
    eventually(lambda: program.get("/requirements").status_code, "the end of the token", equals=401)
