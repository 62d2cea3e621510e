package com.example.classifier;

import java.nio.file.Path;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * The part of an application's configuration that describes its model.
 *
 * @param model the model's file or folder
 * @param arguments DJL arguments by name, such as djl.arguments.memplan.threads
 */
@ConfigurationProperties("djl")
public record DjlProperties(Path model, Map<String, Object> arguments) {}
