package io.quartermaster.ledger.audit;

/** A SHA-256 in lower-case hexadecimal digits. */
public record ChainHash(String hex) {
    private static final int DIGITS = 64;

    public ChainHash {
        if (!isHash(hex)) {
            throw new IllegalArgumentException("not a SHA-256 in lower-case hexadecimal digits: " + hex);
        }
    }

    private static boolean isHash(String text) {
        if (text.length() != DIGITS) {
            return false;
        }
        for (int i = 0; i < DIGITS; i++) {
            char digit = text.charAt(i);
            if ((digit < '0' || digit > '9') && (digit < 'a' || digit > 'f')) {
                return false;
            }
        }
        return true;
    }

    @Override
    public String toString() {
        return hex;
    }
}
