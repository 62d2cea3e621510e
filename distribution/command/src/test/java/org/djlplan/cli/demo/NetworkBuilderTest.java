package org.djlplan.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class NetworkBuilderTest {

    private final NetworkBuilder network = new NetworkBuilder("test", 1);
    private final LayerOutput image = network.input("image", 1, 7, 9, 3);

    @Test
    void conv2d_samePadding_roundsUp() {
        LayerOutput y = network.conv2d(image, 5, 3, 2, Activation.NONE);
        assertEquals(List.of(1, 4, 5, 5), y.shape());
    }

    @Test
    void conv2d_validPadding_takesWholeWindowsOnly() {
        LayerOutput y = network.conv2d(image, 5, 3, 4, 2, Padding.VALID, Activation.NONE);
        assertEquals(List.of(1, 3, 3, 5), y.shape());
    }

    @Test
    void maxPool_windowLargerThanTheImage_throws() {
        assertThrows(
                IllegalArgumentException.class, () -> network.maxPool(image, 8, 1, Padding.VALID));
    }

    @Test
    void concat_branches_addsChannels() {
        LayerOutput y = network.conv2d(image, 4, 1, 1, Activation.NONE);
        assertEquals(List.of(1, 7, 9, 10), network.concat(3, image, y, image).shape());
    }

    @Test
    void pad_channels_growsThemOnly() {
        LayerOutput y = network.pad(image, 0, 0, 0, 0, 0, 0, 2, 3);
        assertEquals(List.of(1, 7, 9, 8), y.shape());
        assertThrows(IllegalArgumentException.class, () -> network.pad(image, 1, 1));
    }

    @Test
    void add_shapesThatDiffer_throws() {
        LayerOutput y = network.conv2d(image, 4, 1, 1, Activation.NONE);
        assertThrows(IllegalArgumentException.class, () -> network.add(image, y, Activation.NONE));
    }

    @Test
    void fullyConnected_ofAnImage_throws() {
        assertThrows(
                IllegalArgumentException.class,
                () -> network.fullyConnected(image, 10, Activation.NONE));
        LayerOutput y = network.fullyConnected(network.mean(image), 10, Activation.NONE);
        assertEquals(List.of(1, 10), y.shape());
    }
}
