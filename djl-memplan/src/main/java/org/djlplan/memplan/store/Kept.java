package org.djlplan.memplan.store;

/**
 * Something that is kept.
 *
 * @param <T> its kind
 * @param key what it depends on
 * @param value what it is
 */
public record Kept<T>(StoreKey key, T value) {}
