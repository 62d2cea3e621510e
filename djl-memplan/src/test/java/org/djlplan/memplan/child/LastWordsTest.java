package org.djlplan.memplan.child;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class LastWordsTest {

    private final LastWords words = new LastWords();

    @Test
    void summary_nothing_saysSo() {
        assertEquals("(none)", words.summary());
        assertEquals(List.of(), words.lines());
    }

    @Test
    void summary_someLines_areTheLast() {
        for (int i = 0; i < 20; i++) {
            words.addError("  line " + i + " ");
            words.addError("");
        }
        assertEquals(8, words.lines().size());
        assertEquals("line 19", words.lines().get(7));
        assertEquals(String.join(" | ", words.lines()), words.summary());
    }

    /** As JDK 17 writes it. */
    @Test
    void summary_crash_isItsSignalAndFrame() {
        words.addError("INFO: Initialized TensorFlow Lite runtime.");
        List.of(
                        "#",
                        "# A fatal error has been detected by the Java Runtime Environment:",
                        "#",
                        "#  SIGSEGV (0xb) at pc=0x00007f0a5c0b1234, pid=41, tid=42",
                        "#",
                        "# JRE version: OpenJDK Runtime Environment (17.0.15+6)",
                        "# Problematic frame:",
                        "# C  [libtensorflowlite_jni.so+0x1234]  TfLiteInterpreterInvoke+0x14",
                        "#",
                        "# No core dump will be written. Core dumps have been disabled.",
                        "#")
                .forEach(words::addOutput);
        assertEquals(
                "SIGSEGV (0xb) at pc=0x00007f0a5c0b1234, pid=41, tid=42"
                        + " | C  [libtensorflowlite_jni.so+0x1234]  TfLiteInterpreterInvoke+0x14",
                words.summary());
        assertEquals(List.of("INFO: Initialized TensorFlow Lite runtime."), words.lines());
    }
}
