package org.djlplan.integration.objectstores;

import ai.djl.ndarray.NDList;
import ai.djl.repository.zoo.Criteria;
import ai.djl.repository.zoo.ZooModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.djlplan.memplan.PlannedTranslatorFactory;
import org.djlplan.memplan.cli.demo.MobileNetV2;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.djlplan.memplan.source.tflite.TfLiteWriter;

/** A machine of a fleet, in this JVM or in one of its own. */
final class Machine {

    private static final List<String> INHERITED =
            List.of(
                    "DJL_CACHE_DIR",
                    "ENGINE_CACHE_DIR",
                    "aws.accessKeyId",
                    "aws.secretAccessKey",
                    "aws.region",
                    "aws.endpointUrlS3",
                    "aws.requestChecksumCalculation");

    private Machine() {}

    /** What such a machine says that it runs by. */
    record Choice(String origin, String choiceId) {}

    /** Loads the model in a folder, and prints by which choice it runs. */
    public static void main(String[] arguments) throws Exception {
        DelegationReport report = load(Path.of(arguments[0]), arguments[1], "blocking");
        System.out.println(report.origin() + " " + report.choiceId());
    }

    /**
     * @param folder of its own, which has nothing yet
     * @param shared folder of the bucket
     */
    static DelegationReport load(Path folder, String shared, String profile) throws Exception {
        Path file = Files.createDirectories(folder).resolve("mobilenet_v2.tflite");
        TfLiteWriter.write(MobileNetV2.build(1), file);
        Criteria<NDList, NDList> criteria =
                Criteria.builder()
                        .setTypes(NDList.class, NDList.class)
                        .optEngine("TFLite")
                        .optModelPath(file)
                        .optTranslatorFactory(
                                new PlannedTranslatorFactory()
                                        .with(
                                                "memplan.store",
                                                new S3Store(ObjectServer.BUCKET, shared))
                                        .with("delegation.threads", 1)
                                        .with("delegation.profile", profile))
                        .build();
        try (ZooModel<NDList, NDList> model = criteria.loadModel()) {
            return PlanReport.of(model).flatMap(PlanReport::delegation).orElseThrow();
        }
    }

    /** Starts one, which writes to a file {@code out} of its folder. */
    static Process start(Path folder, String shared) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Dai.djl.offline=true", "-Xmx256m"));
        for (String property : INHERITED) {
            command.add("-D" + property + "=" + System.getProperty(property));
        }
        command.addAll(
                List.of(
                        "-cp",
                        System.getProperty(
                                "surefire.test.class.path", System.getProperty("java.class.path")),
                        Machine.class.getName(),
                        folder.toString(),
                        shared));
        return new ProcessBuilder(command)
                .redirectOutput(Files.createDirectories(folder).resolve("out").toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Waits for one that was started. */
    static Choice end(Process process, Path folder) throws Exception {
        int exit = process.waitFor();
        String out = Files.readString(folder.resolve("out")).strip();
        if (exit != 0) {
            throw new IOException(folder + " ended with " + exit + ": " + out);
        }
        int space = out.indexOf(' ');
        return new Choice(out.substring(0, space), out.substring(space + 1));
    }
}
