package org.djlplan.cli.report;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import org.djlplan.cli.GeneratedPlans;
import org.djlplan.memplan.internal.usage.PlanningProblem;

/** Reports of generated problems. */
final class PlanData {

    static final Gson GSON = new Gson();

    private PlanData() {}

    /** Returns a report that has only the plans of all strategies. */
    static JsonObject report(String title, PlanningProblem problem) {
        return report(title, problem, "all");
    }

    static JsonObject report(String title, PlanningProblem problem, String strategy) {
        JsonObject report = GeneratedPlans.report(title, problem, strategy);
        JsonArray tensors = report.getAsJsonObject("plan").getAsJsonArray("tensors");
        tensors.get(0).getAsJsonObject().addProperty("owner", "io");
        for (int i = 5; i < tensors.size(); i += 9) {
            tensors.get(i).getAsJsonObject().addProperty("owner", "temporary");
        }
        return report;
    }
}
