package org.djlplan.integration.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ai.djl.inference.Predictor;
import ai.djl.modality.cv.Image;
import ai.djl.modality.cv.ImageFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import com.example.spark.BestClassOfImage;
import java.awt.image.BufferedImage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.djlplan.memplan.report.PlanReport;

/** Writes image files, and classifies them with DJL alone. */
final class ImageFiles {

    private ImageFiles() {}

    /** Returns a new folder with {@code count} images, each of one colour. */
    static Path write(Path folder, int count) throws Exception {
        Path images = Files.createDirectories(folder.resolve("photographs"));
        for (int i = 0; i < count; i++) {
            BufferedImage image = new BufferedImage(64, 48, BufferedImage.TYPE_INT_RGB);
            for (int at = 0; at < 64 * 48; at++) {
                image.setRGB(at % 64, at / 64, i * 0x123456);
            }
            ImageIO.write(image, "png", images.resolve(i + ".png").toFile());
        }
        return images;
    }

    /** Returns the classes of the files by DJL alone, sorted. */
    static List<Integer> stockClasses(Path model, Path images) throws Exception {
        Criteria<Image, Integer> criteria =
                Criteria.builder()
                        .setTypes(Image.class, Integer.class)
                        .optEngine("TFLite")
                        .optModelPath(model)
                        .optModelName("mobilenet_v2")
                        .optTranslator(new BestClassOfImage())
                        .build();
        List<Integer> classes = new ArrayList<>();
        try (ZooModel<Image, Integer> stock = criteria.loadModel();
                Predictor<Image, Integer> predictor = stock.newPredictor();
                Stream<Path> files = Files.list(images)) {
            assertEquals(Optional.empty(), PlanReport.of(stock));
            for (Path file : files.toList()) {
                classes.add(predictor.predict(ImageFactory.getInstance().fromFile(file)));
            }
        }
        return classes.stream().sorted().toList();
    }
}
