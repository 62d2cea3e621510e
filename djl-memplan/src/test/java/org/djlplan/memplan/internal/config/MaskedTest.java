package org.djlplan.memplan.internal.config;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MaskedTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "/choices/job@2.zip?x | /choices/job@2.zip?x",
                "https://host:8443/job.zip | https://host:8443/job.zip",
                "https://me:secret@host/job.zip | https://…@host/job.zip",
                "https://me:sec/r@e?t@host/job.zip | https://…@host/job.zip",
                "https://host/job.zip?sig=secret | https://host/job.zip?…",
                "https://host/job.zip#secret | https://host/job.zip#…",
                "https://me:secret@host/job.zip?sig=secret | https://…@host/job.zip?…",
                "http://me:se cret@ho st/job.zip | http://…@ho st/job.zip"
            })
    void text_ofAnyKind_hasNoSecret(String text, String masked) {
        assertEquals(masked, Masked.text(text));
    }
}
