/**
 * One TFLite model in service. {@link org.djlplan.memplan.internal.serving.ServedModel} runs
 * predictions in pooled interpreters, {@link org.djlplan.memplan.internal.serving.ServedCandidates}
 * knows the candidates that may serve, {@link org.djlplan.memplan.internal.serving.ThreadGovernor}
 * picks one of them for each prediction by the current load.
 */
package org.djlplan.memplan.internal.serving;
