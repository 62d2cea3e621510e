package com.example.embedding;

import ai.djl.ModelException;
import ai.djl.huggingface.translator.TextEmbeddingTranslatorFactory;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Path;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.metrics.PlanMetrics;
import org.djlplan.memplan.metrics.PoolMetrics;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** A web service that answers a posted text with its embedding. */
@SpringBootApplication
public class EmbeddingApplication {

    /** Starts the application. */
    public static void main(String[] arguments) {
        SpringApplication.run(EmbeddingApplication.class, arguments);
    }

    @Bean(destroyMethod = "close")
    ZooModel<String, float[]> model(@Value("${embedding.model}") Path folder)
            throws IOException, ModelException {
        return Criteria.builder()
                .setTypes(String.class, float[].class)
                .optEngine("PyTorch")
                .optModelPath(folder)
                .optTranslatorFactory(
                        PlannedTranslatorFactory.wrap(new TextEmbeddingTranslatorFactory()))
                .build()
                .loadModel();
    }

    @Bean
    PlanMetrics planMetrics(ZooModel<String, float[]> model) {
        return new PlanMetrics(model);
    }

    @Bean
    PoolMetrics poolMetrics() {
        return new PoolMetrics();
    }
}
