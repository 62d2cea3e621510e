package org.djlplan.memplan.store;

import static org.djlplan.memplan.store.SampleSearchedPlans.FORMAT;
import static org.djlplan.memplan.store.SampleSearchedPlans.KEY;
import static org.djlplan.memplan.store.SampleSearchedPlans.small;
import static org.djlplan.memplan.store.SampleSearchedPlans.text;
import static org.djlplan.memplan.store.SampleSearchedPlans.withChecksum;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.djlplan.memplan.testing.LogCapture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SearchedPlanCodecTest {

    @TempDir Path folder;
    private FolderStore<SearchedPlan> store;

    @BeforeEach
    void makeStore() {
        store = FolderStore.at(new SearchedPlanCodec(), folder, folder.resolve("cache"));
    }

    @Test
    void write_smallPlan_isTheTextOfTheDocumentation() {
        assertEquals(
                "{\"strategy\":\"exact-search\",\"provedMinimal\":true,\"searchedMillis\":10000,"
                        + "\"tensor\":[3,5,9],\"first\":[0,1,2],\"last\":[2,2,4],"
                        + "\"bytes\":[1024,512,512],\"offset\":[0,1024,1024],\"aliases\":[[5,9]]}",
                text(small()).get("searched-plan").toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "strategy | '\"two\\nlines\"' | a strategy of no such name",
                "strategy | '\"\"' | a strategy of no such name",
                "provedMinimal | 1 | boolean",
                "searchedMillis | -1 | searched for -1 ms",
                "tensor | [3,5,5] | two records of 5",
                "tensor | [3,9,5] | the checksum is another",
                "tensor | [3,5,4294967305] | overflow",
                "first | [0,3,2] | is used from 3 to 2",
                "bytes | [1024,512,0] | has 0 bytes",
                "bytes | [9223372036854775807,512,512] | overlap",
                "offset | [0,512,512] | tensor 3 and tensor 5 overlap",
                "offset | [0,1024,1536] | tensor 9 lies apart",
                "offset | [0,1025,1025] | no multiple of 64",
                "offset | [0,-64,-64] | negative offset",
                "offset | [0,6400,6400] | more than naive",
                "offset | [0,1024] | parallel arrays",
                "aliases | [[5]] | fewer than two",
                "aliases | [[5,7]] | names 7",
                "aliases | [[5,9],[9,3]] | 9 is in two alias classes",
                "aliases | [[3,5,9]] | lies apart",
                "aliases | [] | tensor 5 and tensor 9 overlap",
            })
    void load_wrongPartUnderARightChecksum_isRefused(String part, String value, String reason)
            throws IOException {
        JsonObject text = text(small());
        text.getAsJsonObject("searched-plan").add(part, JsonParser.parseString(value));
        store.save(KEY, small());
        Files.write(folder.resolve(".djlplan").resolve(FORMAT.nameOf(KEY)), withChecksum(text));
        try (LogCapture log = new LogCapture()) {
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(Optional.empty(), store.load(KEY));
            assertEquals(1, log.lines().size(), log.lines()::toString);
            assertTrue(log.lines("WARN").get(0).contains(reason), log.lines()::toString);
        }
    }
}
