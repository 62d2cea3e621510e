package com.example.classifier;

import ai.djl.repository.zoo.ZooModel;
import org.djlplan.memplan.report.DelegationReport;
import org.djlplan.memplan.report.PlanReport;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.stereotype.Component;

/** Reports the model's configuration under /actuator/health. */
@Component
public class ModelHealthIndicator implements HealthIndicator {

    private final ZooModel<?, ?> model;

    ModelHealthIndicator(ZooModel<?, ?> model) {
        this.model = model;
    }

    @Override
    public Health health() {
        if (!model.getNDManager().isOpen()) {
            return Health.down().withDetail("model", "closed").build();
        }
        // A model that is not planned runs as without djl-plan.
        Health.Builder health = Health.up();
        PlanReport.of(model).ifPresent(report -> describe(report, health));
        return health.build();
    }

    private static void describe(PlanReport report, Health.Builder health) {
        health.withDetail("planned", report.planned())
                .withDetail("predictions", report.predictions().total())
                .withDetail("unplanned", report.predictions().unplanned());
        report.delegation().ifPresent(delegation -> describe(delegation, health));
    }

    private static void describe(DelegationReport report, Health.Builder health) {
        health.withDetail("delegated", report.delegatedOperators())
                .withDetail("operators", report.operators())
                .withDetail("origin", report.origin());
    }
}
