package com.example.classifier;

import java.nio.file.Path;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * What an application's configuration says of its model.
 *
 * @param model its file or folder
 * @param arguments such as djl.arguments.memplan.threads
 */
@ConfigurationProperties("djl")
public record DjlProperties(Path model, Map<String, Object> arguments) {}
