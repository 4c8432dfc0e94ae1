//! The wheel, by pip in a virtual environment, without an index.

use crate::clean_root::{need, succeeds};

wakepath_test_program::tests![;
    pip_brings_the_program_and_takes_it_away,
    the_module_is_whole_where_it_can_be_and_says_what_it_lacks_elsewhere,
];

fn pip_brings_the_program_and_takes_it_away() {
    need("python3");
    succeeds(
        r#"
        mkdir /tmp/wheels /tmp/offered
        cp /media/release/*.whl /tmp/wheels
        # pip as its own wheel: an environment with pip inside takes ten times as long to make.
        python3 -m venv --without-pip /opt/environment
        pip="/opt/environment/bin/python $(echo /usr/share/python-wheels/pip-*.whl)/pip"
        $pip install --quiet --no-index --find-links /tmp/wheels wakepath
        cd /tmp
        /opt/environment/bin/wakepath --version
        /opt/environment/bin/wakepath scenario check quick
        $pip check
        $pip show --files wakepath > /tmp/shown
        grep -q 'MIT OR Apache-2.0' /tmp/shown || grep -q '^Summary: Measures' /tmp/shown
        $pip uninstall --quiet --yes wakepath
        [ -z "$(find /opt/environment -iname '*wakepath*')" ] || wrong "$(find /opt/environment -iname '*wakepath*')"
        # Other installers know the machine by other names, and no machine gets another's.
        offered() {
            $pip download --quiet --no-index --no-deps --only-binary :all: --platform "$1" \
                --dest /tmp/offered --find-links /media/release wakepath
        }
        offered manylinux2014_x86_64
        offered musllinux_1_1_x86_64
        offered manylinux2014_ppc64le 2>/dev/null && wrong "another machine's wheel"
        exit 0
        "#,
    );
}

fn the_module_is_whole_where_it_can_be_and_says_what_it_lacks_elsewhere() {
    need("python3");
    succeeds(
        r#"
        python3 -m venv --without-pip /opt/environment
        python=/opt/environment/bin/python
        pip="$python $(echo /usr/share/python-wheels/pip-*.whl)/pip"
        $pip install --quiet --no-index --find-links /media/release wakepath
        cd /tmp
        $python - <<'END'
import wakepath
assert wakepath.program() == "/opt/environment/bin/wakepath", wakepath.program()
with wakepath.Loop("alone", rate_hz=1000) as loop:
    assert [cycle.due_ns for _, cycle in zip(range(3), loop)]
END
        # Everywhere else the same names, and a line.
        $pip uninstall --quiet --yes wakepath
        $pip install --quiet --no-index --no-deps /media/release/wakepath-*-py3-none-*_"$(uname -m)".whl
        $python - <<'END'
import wakepath
assert wakepath.open_run and wakepath.program()
try:
    wakepath.Loop
except ImportError as why:
    assert "wakepath.Loop needs the compiled half" in str(why) and "\n" not in str(why)
else:
    raise SystemExit("a loop without its compiled half")
END
        rm -rf /opt/environment
        "#,
    );
}
