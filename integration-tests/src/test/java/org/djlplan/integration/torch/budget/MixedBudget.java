package org.djlplan.integration.torch.budget;

import ai.djl.inference.Predictor;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.repository.zoo.ZooModel;
import ai.djl.translate.TranslateException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.djlplan.integration.support.BudgetRefusal;
import org.djlplan.integration.support.ProcessSize;
import org.djlplan.integration.torch.ModelInputs;
import org.djlplan.integration.torch.Output;
import org.djlplan.integration.torch.Torch;
import org.djlplan.memplan.report.BudgetReport;

/**
 * Eight threads predict in a model with a budget. Their inputs have random sizes, in and beyond the
 * budget, and exist before. Arguments: the "attention" model, its budget in bytes, and the number
 * of predictions. Fails if an output differs from stock's, if a prediction is refused that was not
 * always, or if the process takes more than a tenth above the budget.
 */
final class MixedBudget {

    private static final int THREADS = 8;
    private static final long[] BATCHES = {1, 2, 4, 12, 60};
    private static final long[] LENGTHS = {16, 100, 200, 512};
    private static final long WIDTH = 32;

    /** Larger ones are refused. */
    private static final long MOST_NUMBERS = 4_000_000;

    private static final int HEADS = 4;

    private final ZooModel<NDList, NDList> model;
    private final List<Question> questions;
    private final AtomicInteger left;
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger answered = new AtomicInteger();

    /**
     * Inputs.
     *
     * @param expected stock's outputs; empty if they are beyond the budget
     */
    private record Question(NDList inputs, List<Output> expected) {}

    private MixedBudget(ZooModel<NDList, NDList> model, List<Question> questions, int predictions) {
        this.model = model;
        this.questions = questions;
        left = new AtomicInteger(predictions);
    }

    public static void main(String[] arguments) throws Exception {
        Torch.threads(1);
        Path file = Path.of(arguments[0]);
        long budget = Long.parseLong(arguments[1]);
        int predictions = Integer.parseInt(arguments[2]);
        try (NDManager manager = NDManager.newBaseManager("PyTorch")) {
            List<Question> questions = questions(file, manager);
            ProcessSize.resetPeak();
            long before = ProcessSize.residentBytes();
            try (ZooModel<NDList, NDList> model =
                    Torch.load(file, Map.of("memplan.budget", arguments[1]))) {
                new MixedBudget(model, questions, predictions).run();
                BudgetReport report = Torch.report(model).budget().orElseThrow();
                require(report.attainable(), report.toString());
                double peak = (ProcessSize.peakBytes() - before) / 1e6;
                System.out.printf(Locale.ROOT, "peak %.1f MB of %s%n", peak, report);
                require(peak * 1e6 <= 1.1 * budget, "peak of " + peak + " MB");
            }
        }
    }

    private static List<Question> questions(Path file, NDManager manager) throws Exception {
        List<Question> questions = new ArrayList<>();
        try (ZooModel<NDList, NDList> stock = Torch.loadStock(file)) {
            for (long batch : BATCHES) {
                for (long length : LENGTHS) {
                    ModelInputs inputs = ModelInputs.floats(new long[] {batch, length, WIDTH});
                    boolean fits = batch * HEADS * length * length < MOST_NUMBERS;
                    questions.add(
                            new Question(
                                    inputs.create(manager, 0),
                                    fits ? Torch.predict(stock, inputs, 0) : List.of()));
                }
            }
        }
        return questions;
    }

    private static void require(boolean condition, String problem) {
        if (!condition) {
            throw new IllegalStateException(problem);
        }
    }

    private void run() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Random random = new Random(i);
                tasks.add(() -> predict(random));
            }
            for (Future<Void> task : threads.invokeAll(tasks)) {
                Void unused = task.get();
            }
        } finally {
            threads.shutdownNow();
        }
        System.out.println(answered + " answered, " + refused + " refused");
        require(answered.get() > 0 && refused.get() > 0, "nothing of one kind");
    }

    private Void predict(Random random) throws Exception {
        Torch.threads(1);
        try (Predictor<NDList, NDList> predictor = model.newPredictor()) {
            while (left.getAndDecrement() > 0) {
                Question question = questions.get(random.nextInt(questions.size()));
                if (question.expected().isEmpty()) {
                    refuse(predictor, question);
                } else {
                    NDList outputs = predictor.predict(question.inputs());
                    require(question.expected().equals(Output.copyOf(outputs)), "other outputs");
                    outputs.close();
                    answered.incrementAndGet();
                }
            }
        }
        return null;
    }

    private void refuse(Predictor<NDList, NDList> predictor, Question question) {
        try {
            predictor.predict(question.inputs()).close();
            throw new IllegalStateException("not refused");
        } catch (TranslateException e) {
            require(BudgetRefusal.in(e).leastBytes() > 0, e.toString());
            refused.incrementAndGet();
        }
    }
}
