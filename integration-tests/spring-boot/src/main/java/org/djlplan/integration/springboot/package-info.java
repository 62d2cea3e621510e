/** A web application of Spring Boot with a model: code of docs/pipelines/spring-boot.md. */
package org.djlplan.integration.springboot;
