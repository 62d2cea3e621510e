package org.djlplan.integration.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.djlplan.integration.paper.Contender.Kind;
import org.djlplan.memplan.internal.usage.PlanningProblem;
import org.djlplan.memplan.internal.usage.UsageRecord;
import org.djlplan.study.shared.SharedObjectsPlan;
import org.djlplan.study.shared.SharedObjectsStrategy;
import org.djlplan.thirdparty.guava.base.Splitter;
import org.djlplan.thirdparty.guava.collect.Maps;
import org.junit.jupiter.api.Test;

class NetworkTableTest {

    /**
     * A strategy with a chosen name that puts each unit into its own object, or all units into one.
     */
    private record Objects(String name, boolean shared) implements SharedObjectsStrategy {

        @Override
        public int largestProblem() {
            return 100;
        }

        @Override
        public SharedObjectsPlan plan(PlanningProblem problem) {
            List<Integer> ids = problem.units().stream().map(UsageRecord::tensor).toList();
            Map<Integer, Integer> objects = Maps.toMap(ids, id -> shared ? 0 : ids.indexOf(id));
            return new SharedObjectsPlan(name, problem, objects);
        }
    }

    @Test
    void committedPage_sameAsComputed() throws IOException {
        assertEquals(
                NetworkTable.text(Contender.all()),
                Files.readString(NetworkTable.FILE),
                "make it anew: " + NetworkTable.COMMAND);
    }

    @Test
    void statements_ofOffsets_allHold() {
        List<Contender> offsets =
                Contender.all().stream().filter(c -> c.kind() == Kind.OFFSETS).toList();
        List<Statement> statements = Statement.of(Results.plain(offsets));
        assertTrue(statements.size() >= 3, statements::toString);
        statements.forEach(statement -> assertTrue(statement.holds(), statement::toString));
    }

    @Test
    void statements_naiveUnderAnotherName_doNotHold() {
        Contender naive = Contender.of(new Objects("shared-greedy-by-size-improved", false));
        Contender admitsAll =
                new Contender(naive.name(), naive.kind(), problem -> true, naive.bytes());
        List<Statement> statements = Statement.of(Results.plain(List.of(admitsAll)));
        assertEquals(3, statements.size());
        statements.forEach(statement -> assertFalse(statement.holds(), statement::toString));
    }

    @Test
    void text_sharedObjects_haveTheirOwnSection() {
        String text = NetworkTable.text(List.of(Contender.of(new Objects("each-its-own", false))));
        assertTrue(text.contains("## Shared objects"), text);
        assertFalse(text.contains("## Offset calculation"), text);
        // 125 tensors are more than the strategy admits.
        assertEquals("–", cell(text, "each-its-own", PaperNetwork.INCEPTION_V3));
        assertEquals("19.248 (4.1900)", cell(text, "each-its-own", PaperNetwork.MOBILENET_V1));
    }

    @Test
    void bytes_invalidPlan_refused() {
        Contender invalid = Contender.of(new Objects("one-for-all", true));
        assertEquals(Kind.SHARED_OBJECTS, invalid.kind());
        PlanningProblem problem = PaperNetwork.POSENET.sketch().problem();
        assertThrows(IllegalStateException.class, () -> invalid.bytes().applyAsLong(problem));
    }

    private static String cell(String text, String row, PaperNetwork network) {
        String line = text.lines().filter(l -> l.startsWith("| " + row)).findFirst().orElseThrow();
        int column = List.of(PaperNetwork.values()).indexOf(network) + 2;
        return Splitter.on('|').trimResults().splitToList(line).get(column);
    }
}
