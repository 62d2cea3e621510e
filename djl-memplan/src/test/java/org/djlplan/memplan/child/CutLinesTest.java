package org.djlplan.memplan.child;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CutLinesTest {

    private static List<String> lines(String text, int longest) throws IOException {
        List<String> lines = new ArrayList<>();
        CutLines.forEach(new StringReader(text), longest, lines::add);
        return lines;
    }

    @Test
    void forEach_lines_areHandedOnWithoutTheirEnds() throws IOException {
        assertEquals(List.of("a", "", "b\0c"), lines("a\n\nb\0c\n", 10));
    }

    @Test
    void forEach_noEnd_isALineToo() throws IOException {
        assertEquals(List.of("a", "b"), lines("a\nb", 10));
        assertEquals(List.of(), lines("", 10));
    }

    @Test
    void forEach_longLine_isCutAndTheNextIsWhole() throws IOException {
        assertEquals(List.of("abc", "def"), lines("abcabc\ndef\n", 3));
    }
}
