"""Where reports were made, by the paths that they have."""

import pytest

from catalog_service.executions.workspaces import find_workspace, tell_from


@pytest.mark.parametrize(
    ("paths", "workspace"),
    [
        ([], ""),
        (["test/a.js"], ""),
        (["/home/runner/work/shop/shop/a/b.js"], "/home/runner/work/shop/shop/"),
        (["/builds/team/shop/a/b.js", "/builds/team/shop/c.js"], "/builds/team/shop/"),
        (["/var/jenkins_home/workspace/shop@2/a/b.js"], "/var/jenkins_home/workspace/shop@2/"),
        (["D:\\a\\1\\s\\src\\a.js"], "D:/a/1/s/"),
        (["file:///home/vsts/work/1/s/a/b.js"], "/home/vsts/work/1/s/"),
        (["/home/kim/code/shop/test/unit/a.js"], "/home/kim/code/shop/"),
        (["/srv/shop/packages/a/test/x.js", "/srv/shop/packages/b/test/y.js"], "/srv/shop/"),
        (["/home/src/work/test/a.js"], "/home/src/work/"),
        (["/srv/one/a.js", "/srv/two/b.js"], "/srv/"),
        (["/srv/one/a.js", "/srv/one/sub/b.js"], "/srv/one/"),
        (["/srv/one/a.js", "/srv/onetwo/b.js"], "/srv/"),
        (["/a.js", "/b/c.js"], "/"),
    ],
)
def test_paths_are_told_from_their_workspace(paths: list[str], workspace: str) -> None:
    assert find_workspace(paths) == workspace
    told = [tell_from(workspace, path) for path in paths]
    assert len({*told}) == len(paths)
    assert not any(path.startswith(("/", "D:", "file:")) for path in told)


@pytest.mark.parametrize(
    ("said", "workspace"),
    [
        ("/srv/shop", "/srv/shop/"),
        ("/srv/shop/", "/srv/shop/"),
        ("/srv/sho", "/srv/shop/cart/"),
        ("/elsewhere", "/srv/shop/cart/"),
        ("", "/srv/shop/cart/"),
    ],
)
def test_what_the_sender_says_counts_where_all_paths_lie_in_it(said: str, workspace: str) -> None:
    assert find_workspace(["/srv/shop/cart/a.js", "/srv/shop/cart/b/c.js"], said) == workspace
