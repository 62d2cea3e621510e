/**
 * Models in operators of Apache Flink: code of docs/pipelines/flink.md, in a cluster of one JVM.
 */
package org.djlplan.integration.flink;
