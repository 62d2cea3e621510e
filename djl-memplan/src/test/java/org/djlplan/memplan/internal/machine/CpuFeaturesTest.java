package org.djlplan.memplan.internal.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CpuFeaturesTest {

    private static final String X86 =
            """
            processor\t: 0
            vendor_id\t: GenuineIntel
            model name\t: Intel(R) Xeon(R) Processor
            cpu MHz\t\t: 2599.998
            flags\t\t: fpu sse2 avx2 avx512f

            processor\t: 1
            model name\t: Intel(R) Xeon(R) Processor
            flags\t\t: fpu sse2 avx2 avx512f
            """;

    private static final String ARM =
            """
            processor\t: 0
            BogoMIPS\t: 243.75
            Features\t: fp asimd aes asimdhp
            CPU implementer\t: 0x41
            CPU part\t: 0xd0c
            """;

    @TempDir Path folder;

    private String of(String cpuInfo) throws IOException {
        return CpuFeatures.of("amd64", Files.writeString(folder.resolve("cpuinfo"), cpuInfo));
    }

    @Test
    void of_sameCpuAtAnotherClock_isEqual() throws IOException {
        assertTrue(of(X86).matches("amd64-[0-9a-f]{16}"));
        assertEquals(of(X86), of(X86.replace("2599.998", "800.000")));
    }

    @Test
    void of_onlyAnotherProcessorDiffers_isEqual() throws IOException {
        assertEquals(of(X86), of(X86.substring(0, X86.indexOf("\n\n"))));
    }

    @Test
    void of_anotherModelOrInstructionSet_differs() throws IOException {
        assertNotEquals(of(X86), of(X86.replace("avx512f", "")));
        assertNotEquals(of(X86), of(X86.replace("Xeon", "Core")));
        assertNotEquals(of(ARM), of(ARM.replace("asimdhp", "sve")));
        assertNotEquals(of(ARM), of(ARM.replace("0xd0c", "0xd40")));
    }

    @Test
    void of_noModelName_isTheArchitecture() throws IOException {
        assertEquals("amd64", of(""));
        assertEquals("amd64", of("processor\t: 0\n"));
        assertEquals("aarch64", CpuFeatures.of("aarch64", folder.resolve("missing")));
        assertEquals("aarch64", CpuFeatures.of("aarch64", folder));
    }

    @Test
    void current_thisCpu_isAlwaysEqual() {
        assertTrue(CpuFeatures.current().startsWith(System.getProperty("os.arch")));
        assertEquals(CpuFeatures.current(), CpuFeatures.current());
    }

    @Test
    void has_instructionSet_isAWordOfTheFlags() throws IOException {
        Path x86 = Files.writeString(folder.resolve("cpuinfo"), X86);
        assertTrue(CpuFeatures.has("avx512f", x86));
        assertFalse(CpuFeatures.has("avx512", x86));
        assertFalse(CpuFeatures.has("avx512_vnni", x86));
        assertFalse(CpuFeatures.has("avx2", folder.resolve("missing")));
    }

    @Test
    void of_interruptedThread_isEqual() throws IOException {
        String cpu = of(X86);
        Thread.currentThread().interrupt();
        String again = CpuFeatures.of("amd64", folder.resolve("cpuinfo"));
        assertTrue(Thread.interrupted());
        assertEquals(cpu, again);
    }
}
