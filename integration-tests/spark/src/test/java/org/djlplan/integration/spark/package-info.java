/** Models in tasks of Apache Spark: code of docs/pipelines/spark.md, on executors of their own. */
package org.djlplan.integration.spark;
