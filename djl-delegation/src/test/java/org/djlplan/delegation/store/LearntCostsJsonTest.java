package org.djlplan.delegation.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.common.collect.ImmutableMap;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import org.djlplan.delegation.choice.Cost;
import org.djlplan.delegation.choice.CostKey;
import org.djlplan.delegation.choice.CostKey.Kind;
import org.djlplan.delegation.choice.LearntCosts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LearntCostsJsonTest {

    private static final LearntCosts COSTS =
            LearntCosts.of(
                    ImmutableMap.of(
                            new CostKey(Kind.CPU, "CONV_2D", -1), new Cost(1.0 / 3, 2e9),
                            new CostKey(Kind.DELEGATE, "CUSTOM:\"é\"", 4), new Cost(0, 7),
                            new CostKey(Kind.KERNEL, "", 1), new Cost(30_000, 3),
                            new CostKey(Kind.CROSSING, "", 1), new Cost(12.5, 1 << 20)));

    private static String text(LearntCosts costs) throws IOException {
        StringWriter text = new StringWriter();
        LearntCostsJson.write(new JsonWriter(text), costs);
        return text.toString();
    }

    private static LearntCosts read(String text) throws IOException {
        return LearntCostsJson.read(new JsonReader(new StringReader(text)));
    }

    @Test
    void read_whatWasWritten_isTheSame() throws IOException {
        assertEquals(COSTS.costs(), read(text(COSTS)).costs());
        assertEquals(LearntCosts.defaults().costs(), read(text(LearntCosts.defaults())).costs());
    }

    @Test
    void read_anyBeginningOfIt_throws() throws IOException {
        String text = text(COSTS);
        for (int length = 0; length < text.length(); length++) {
            String part = text.substring(0, length);
            assertThrows(IOException.class, () -> read(part), part);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "[]",
                "{}",
                "{\"costs\":{}}",
                "{\"cost\":[]}",
                "{\"costs\":[],\"more\":1}",
                "{\"costs\":[[]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,2]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,2,3,4]]}",
                "{\"costs\":[[\"GPU\",\"A\",1,2,3]]}",
                "{\"costs\":[[\"CPU\",\"\",1,2,3]]}",
                "{\"costs\":[[\"CPU\",5,1,2,3]]}",
                "{\"costs\":[[\"KERNEL\",\"A\",1,2,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",0,2,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1.5,2,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",\"1\",2,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,-2,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,2,0]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,1e300,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,NaN,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,\"NaN\",3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,null,3]]}",
                "{\"costs\":[[\"CPU\",\"A\",1,2,3],[\"CPU\",\"A\",1,2,3]]}"
            })
    void read_whatIsNeverWritten_throws(String text) {
        assertThrows(IOException.class, () -> read(text));
    }

    @Test
    void read_tooMany_throws() {
        StringBuilder text = new StringBuilder("{\"costs\":[");
        for (int i = 0; i < 2_000; i++) {
            text.append(i == 0 ? "" : ",").append("[\"CPU\",\"A").append(i).append("\",1,2,3]");
        }
        assertThrows(IOException.class, () -> read(text.append("]}").toString()));
    }
}
