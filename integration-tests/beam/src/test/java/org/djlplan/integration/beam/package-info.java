/** Models in functions of Apache Beam: code of docs/pipelines/beam.md. */
package org.djlplan.integration.beam;
