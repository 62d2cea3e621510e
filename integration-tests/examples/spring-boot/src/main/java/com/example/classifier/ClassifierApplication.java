package com.example.classifier;

import ai.djl.ModelException;
import ai.djl.modality.Classifications;
import ai.djl.modality.cv.Image;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import javax.imageio.ImageIO;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** An application that loads one model before it takes requests. */
@SpringBootApplication
@EnableConfigurationProperties(DjlProperties.class)
public class ClassifierApplication {

    /** Starts the application. */
    public static void main(String[] arguments) {
        // Without this, Java closes the images of running requests at shutdown.
        ImageIO.setUseCache(false);
        SpringApplication.run(ClassifierApplication.class, arguments);
    }

    @Bean
    Criteria<Image, Classifications> criteria(DjlProperties properties) {
        return Criteria.builder()
                .setTypes(Image.class, Classifications.class)
                .optEngine("TFLite")
                .optModelPath(properties.model())
                .optArguments(properties.arguments())
                .optTranslatorFactory(PlannedTranslatorFactory.wrap(Labels.translator()))
                .build();
    }

    @Bean(destroyMethod = "close")
    ZooModel<Image, Classifications> model(Criteria<Image, Classifications> criteria)
            throws IOException, ModelException {
        return criteria.loadModel();
    }

    @Bean
    PlanMetrics planMetrics(ZooModel<Image, Classifications> model) {
        return new PlanMetrics(model);
    }

    @Bean
    PoolMetrics poolMetrics() {
        return new PoolMetrics();
    }
}
