package org.djlplan.memplan.rows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import ai.djl.translate.TranslateException;
import org.junit.jupiter.api.Test;

class RowFailedExceptionTest {

    @Test
    void getCause_ofThePredictor_isTheSame() {
        TranslateException cause = new TranslateException("no image");
        RowFailedException failed = new RowFailedException(8, 4, cause);
        assertSame(cause, failed.getCause());
        assertEquals("one of rows 8 to 11: " + cause, failed.getMessage());
    }

    @Test
    void getCause_ofTheTranslator_isInATranslateException() {
        IllegalStateException inner = new IllegalStateException("no image");
        RowFailedException failed = new RowFailedException(3, 1, inner);
        assertSame(inner, failed.getCause().getCause());
        assertEquals("row 3: " + inner, failed.getMessage());
    }
}
