package org.djlplan.integration.paper;

import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Writes the page that shows every strategy on every network. */
@Tag("bench")
class NetworkTableBench {

    @Test
    void write() throws IOException {
        Files.writeString(NetworkTable.FILE, NetworkTable.text(Contender.all()));
    }
}
