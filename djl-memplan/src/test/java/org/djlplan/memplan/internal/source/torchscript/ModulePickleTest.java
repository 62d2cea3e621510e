package org.djlplan.memplan.internal.source.torchscript;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ModulePickleTest {

    private static Map<String, Long> largest(String hex) throws IOException {
        return ModulePickle.largestRecords(HexFormat.of().parseHex(hex), Map.of("k", 7L));
    }

    /** An unknown code, texts of impossible lengths, and operands that the file does not have. */
    @ParameterizedTest
    @ValueSource(strings = {"01", "58ffffffff", "580900000061", "4d01", "47", "8a05", "63"})
    void largestRecords_damaged_isAnError(String hex) {
        assertThrows(IOException.class, () -> largest(hex));
    }

    /** Numbers of each size, then the key "k" and the device "d" by long numbers in the memo. */
    @Test
    void largestRecords_outsideOfModules_isFound() throws IOException {
        String numbers = "4b01" + "4d0101" + "4a01010101" + "470101010101010101" + "8a0101";
        String texts = "58010000006b" + "7200010000" + "580100000064" + "7101";
        assertEquals(Map.of("", 7L), largest(numbers + texts + "6a00010000" + "6801" + "51"));
    }
}
