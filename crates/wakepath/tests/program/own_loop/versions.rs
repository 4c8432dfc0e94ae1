//! A library and a recorder of different versions: the one that does not understand the other reports it,
//! with both versions.

use super::*;

wakepath_test_program::tests![
    a_library_of_another_version_is_named_with_what_would_be_right,
    a_library_runs_under_a_recorder_of_another_version_and_says_its_own,
];

fn a_library_of_another_version_is_named_with_what_would_be_right() {
    let place = Place::new();
    // What every version's library does first, here by one that is yet to come.
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n\
         #include <sys/mman.h>\n#include <unistd.h>\n\
         int main(void) {\n\
             int inherited = atoi(getenv(\"WAKEPATH_RECORDING\"));\n\
             char *memory = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, inherited, 0);\n\
             if (memcmp(memory, \"htapekaw\", 8) && memcmp(memory, \"wakepath\", 8)) return 3;\n\
             memcpy(memory + 32, \"9.9.9\", 6);\n\
             *(volatile uint32_t *)(memory + 12) = 77;\n\
             pause();\n\
         }\n",
    );
    let finished = recorded(place, "2s", &[], &program);
    finished.assert_code(1);
    let said = &finished.complaints;
    assert_eq!(said.lines().count(), 1, "{said}");
    for words in [
        "its library is that of wakepath 9.9.9 (memory layout 77)",
        concat!(
            "link the program with the library of wakepath ",
            env!("CARGO_PKG_VERSION")
        ),
    ] {
        assert!(said.contains(words), "{said}");
    }
    assert!(!finished.directory.exists());
}

fn a_library_runs_under_a_recorder_of_another_version_and_says_its_own() {
    let place = Place::new();
    let program = built_of(
        &place,
        "#define _GNU_SOURCE\n#include <wakepath.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n\
         int main(void) {\n\
             uint64_t mark = UINT64_C(0x77616b6570617468);\n\
             uint32_t layout = 77, answer = 0;\n\
             char number[16], version[16] = \"\";\n\
             int recorder = memfd_create(\"recorder\", 0);\n\
             if (ftruncate(recorder, 4096) || pwrite(recorder, &mark, 8, 0) != 8) return 2;\n\
             if (pwrite(recorder, &layout, 4, 8) != 4 || pwrite(recorder, \"9.9.9\", 6, 16) != 6) return 2;\n\
             snprintf(number, sizeof number, \"%d\", recorder);\n\
             setenv(\"WAKEPATH_RECORDING\", number, 1);\n\
             wakepath_loop *loop = wakepath_loop_create(\"alone\", 1000000, 0, 0);\n\
             if (!loop || wakepath_loop_is_recorded(loop)) return 3;\n\
             for (int cycle = 0; cycle < 20; cycle++) if (!wakepath_loop_wait(loop, 0)) return 4;\n\
             wakepath_loop_destroy(loop);\n\
             if (pread(recorder, &answer, 4, 12) != 4 || answer == 0 || answer == 77) return 5;\n\
             if (pread(recorder, version, 16, 32) != 16) return 6;\n\
             return strcmp(version, wakepath_version()) ? 7 : 0;\n\
         }\n",
    );
    let status = Command::new(program).status().unwrap();
    assert_eq!(status.code(), Some(0));
}
