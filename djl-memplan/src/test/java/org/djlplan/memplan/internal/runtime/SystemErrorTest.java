package org.djlplan.memplan.internal.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SystemErrorTest {

    @Test
    void text_ofAnErrorNumber_namesTheError() {
        assertEquals("Read-only file system (errno 30)", SystemError.text(30));
        assertEquals("No space left on device (errno 28)", SystemError.text(28));
    }
}
