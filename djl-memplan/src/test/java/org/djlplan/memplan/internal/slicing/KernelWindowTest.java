package org.djlplan.memplan.internal.slicing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class KernelWindowTest {

    /** As in TensorFlow Lite's {@code ComputePaddingWithOffset}, an odd zero goes to the end. */
    @Test
    void padding_strideTwo_hasTheOddZeroBehind() {
        KernelWindow window = new KernelWindow(3, 3, 2, 2, true);
        assertEquals(4, window.outputRows(8));
        assertEquals(4, window.outputColumns(8));
        assertEquals(0, window.paddingLeft(8, 4));
        assertEquals(1, window.paddingRight(8, 4));
        assertEquals(0, window.firstInputRow(8, 4, 0));
        assertEquals(2, window.firstInputRow(8, 4, 1));
    }

    @Test
    void padding_strideOne_isEvenAndBeginsAboveTheInput() {
        KernelWindow window = new KernelWindow(5, 3, 1, 1, true);
        assertEquals(9, window.outputRows(9));
        assertEquals(-2, window.firstInputRow(9, 9, 0));
        assertEquals(1, window.paddingLeft(9, 9));
        assertEquals(1, window.paddingRight(9, 9));
    }

    @Test
    void outputs_withoutPadding_areTheWindowsInsideTheInput() {
        KernelWindow window = new KernelWindow(3, 5, 2, 1, false);
        assertEquals(3, window.outputRows(8));
        assertEquals(4, window.outputColumns(8));
        assertEquals(0, window.outputRows(2), "the kernel is larger than the input");
        assertEquals(4, window.firstInputRow(8, 3, 2));
        assertEquals(0, window.paddingLeft(8, 4));
        assertEquals(0, window.paddingRight(8, 4));
    }

    @Test
    void isPointwise_oneByOne_onlyWithoutStride() {
        assertTrue(KernelWindow.ONE_PLACE.isPointwise());
        assertFalse(new KernelWindow(1, 1, 1, 2, false).isPointwise());
        assertFalse(new KernelWindow(3, 1, 1, 1, false).isPointwise());
    }
}
