package io.quartermaster.platform.filters;

/** The order of the filters that see a request before the route is matched. The greatest comes first. */
public final class FilterPriorities {

    static final int METRICS = Integer.MAX_VALUE;
    static final int HEADERS = METRICS - 1;
    /** Before every filter that reads the path. */
    static final int ADDRESSES = HEADERS - 1;

    static final int HOSTS = ADDRESSES - 1;

    public static final int ORIGINS = HOSTS - 1;
    static final int RATES = ORIGINS - 1;
    static final int METHODS = RATES - 1;
    static final int BODIES = METHODS - 1;
    /** After the framework's own handler of bodies, which has 2. */
    static final int BODIES_OF_UNKNOWN_LENGTH = 1;

    private FilterPriorities() {}
}
