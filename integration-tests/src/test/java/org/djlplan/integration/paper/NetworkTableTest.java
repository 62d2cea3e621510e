package org.djlplan.integration.paper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import org.djlplan.integration.paper.Contender.Kind;
import org.junit.jupiter.api.Test;

class NetworkTableTest {

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
}
