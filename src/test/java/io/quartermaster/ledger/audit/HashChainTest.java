package io.quartermaster.ledger.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.ledger.TenantKey;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

class HashChainTest {
    private static final HashChain.End BEGINNING = HashChain.beginning(new TenantKey("tenant-a"));

    @Test
    void aChainAsItWasAppendedIsIntact() {
        List<HashChain.Link> chain = chain(5);

        assertThat(HashChain.verify(BEGINNING, chain))
                .isEqualTo(new HashChain.Intact(chain.get(4).end()));
        assertThat(HashChain.verify(BEGINNING, List.of())).isEqualTo(new HashChain.Intact(BEGINNING));
    }

    @Test
    void aChainIsCheckedPageByPageFromTheEndOfTheLast() {
        List<HashChain.Link> chain = chain(5);

        assertThat(HashChain.verify(chain.get(1).end(), chain.subList(2, 5)))
                .isEqualTo(new HashChain.Intact(chain.get(4).end()));
    }

    @Test
    void theHashIsWhatAnybodyComputesFromTheFourLines() {
        HashChain.Link link = HashChain.append(BEGINNING, 1, "content");

        // printf 'quartermaster hash chain\ntenant-a' | sha256sum
        assertThat(BEGINNING.hash().hex())
                .isEqualTo("9f1e94919140c54077159cafdb49fe3049b0412d07b2964fa07c994aae244d1b");
        // printf '1\n%s\n1\ncontent' "$previous" | sha256sum
        assertThat(link.hash().hex()).isEqualTo("46801ba5ecae7523e9a47926fa6da0b644d2d68731d44fcab35e3155af40b1a5");
    }

    @Test
    void everyEditedRecordIsNamed() {
        for (int i = 0; i < 5; i++) {
            List<HashChain.Link> chain = chain(5);
            HashChain.Link link = chain.get(i);
            chain.set(
                    i,
                    new HashChain.Link(
                            link.number(), link.previous(), link.formatVersion(), link.content() + "0", link.hash()));

            assertThat(HashChain.verify(BEGINNING, chain))
                    .isEqualTo(new HashChain.Broken(i + 1, HashChain.Fault.EDITED));
        }
    }

    @Test
    void anotherFormatVersionIsAnEdit() {
        List<HashChain.Link> chain = chain(3);
        HashChain.Link link = chain.get(1);
        chain.set(1, new HashChain.Link(link.number(), link.previous(), 2, link.content(), link.hash()));

        assertThat(HashChain.verify(BEGINNING, chain)).isEqualTo(new HashChain.Broken(2, HashChain.Fault.EDITED));
    }

    @Test
    void everyMissingRecordIsNamedAndTheLastAgainstAKeptEnd() {
        for (int i = 0; i < 5; i++) {
            List<HashChain.Link> chain = chain(5);
            HashChain.End kept = chain.get(4).end();
            chain.remove(i);

            assertThat(HashChain.verify(BEGINNING, chain, kept))
                    .isEqualTo(new HashChain.Broken(i + 1, HashChain.Fault.MISSING));
        }
    }

    @Test
    void recordsInEachOthersPlacesAreNamed() {
        List<HashChain.Link> chain = chain(5);
        Collections.swap(chain, 1, 3);

        assertThat(HashChain.verify(BEGINNING, chain)).isEqualTo(new HashChain.Broken(2, HashChain.Fault.REORDERED));
    }

    @Test
    void aRecordAppearingTwiceIsNamed() {
        List<HashChain.Link> chain = chain(3);
        chain.add(2, chain.get(1));

        assertThat(HashChain.verify(BEGINNING, chain)).isEqualTo(new HashChain.Broken(3, HashChain.Fault.REORDERED));
    }

    @Test
    void aRecordHashedAnewIsFoundByTheOneAfterIt() {
        List<HashChain.Link> chain = chain(5);
        chain.set(2, HashChain.append(chain.get(1).end(), 1, "another content"));

        assertThat(HashChain.verify(BEGINNING, chain)).isEqualTo(new HashChain.Broken(3, HashChain.Fault.REWRITTEN));
    }

    @Test
    void aChainRewrittenToItsEndIsFoundByTheKeptEnd() {
        HashChain.End kept = chain(5).get(4).end();
        List<HashChain.Link> rewritten = new ArrayList<>();
        HashChain.End end = BEGINNING;
        for (int i = 1; i <= 6; i++) {
            rewritten.add(HashChain.append(end, 1, "other " + i));
            end = rewritten.getLast().end();
        }

        assertThat(HashChain.verify(BEGINNING, rewritten)).isEqualTo(new HashChain.Intact(end));
        assertThat(HashChain.verify(BEGINNING, rewritten, kept))
                .isEqualTo(new HashChain.Broken(5, HashChain.Fault.REWRITTEN));
    }

    @Test
    void aGrownChainStillPassesThroughTheKeptEnd() {
        List<HashChain.Link> chain = chain(5);

        assertThat(HashChain.verify(BEGINNING, chain, chain.get(2).end()))
                .isEqualTo(new HashChain.Intact(chain.get(4).end()));
        assertThat(HashChain.verify(BEGINNING, chain, BEGINNING))
                .isEqualTo(new HashChain.Intact(chain.get(4).end()));
    }

    @Test
    void noChainContinuesAnotherTenants() {
        HashChain.End other = HashChain.beginning(new TenantKey("tenant-b"));

        assertThat(HashChain.verify(other, chain(2))).isEqualTo(new HashChain.Broken(0, HashChain.Fault.REWRITTEN));
    }

    @Test
    void aHashIsSixtyFourLowerCaseDigits() {
        assertThatThrownBy(() -> new ChainHash("A".repeat(64))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new ChainHash("a".repeat(63))).isInstanceOf(IllegalArgumentException.class);
    }

    private static List<HashChain.Link> chain(int length) {
        List<HashChain.Link> chain = new ArrayList<>();
        HashChain.End end = BEGINNING;
        for (int i = 1; i <= length; i++) {
            chain.add(HashChain.append(end, 1, "record\n" + i));
            end = chain.getLast().end();
        }
        return chain;
    }
}
