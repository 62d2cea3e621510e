package org.djlplan.delegation.profile;

import java.util.List;
import java.util.Optional;
import org.djlplan.delegation.choice.Contender;
import org.djlplan.delegation.choice.Preference;
import org.djlplan.delegation.choice.Race;

/** Gives contenders their turns. */
final class Rounds {

    /** What is not found out in so many rounds is not worth finding out. */
    static final int MOST = 40;

    /** Inferences per turn, or more if these are fast. */
    private static final int PER_TURN = 3;

    /**
     * After so many rounds turns get longer by one inference: who is left is hard to tell apart.
     */
    private static final int LONGER = 10;

    private final Trials trials;
    private final Preference preference;
    private final Budget budget;

    Rounds(Trials trials, Preference preference, Budget budget) {
        this.trials = trials;
        this.preference = preference;
        this.budget = budget;
    }

    /**
     * Races contenders until one is left, or time is up. Each has at least one turn; those that are
     * not eligible have no more, which is enough to show them in the table.
     *
     * @return the winner; empty if none is eligible
     */
    Optional<Contender> race(List<Contender> contenders) throws InterruptedException {
        Race race = new Race(contenders, preference::weight);
        round(race);
        List<Contender> eligible = preference.eligible(race.running());
        contenders.stream().filter(c -> !eligible.contains(c)).forEach(race::withdraw);
        race.endRound();
        contenders.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        while (race.rounds() < MOST && !race.settled() && round(race)) {
            List<Contender> before = race.running();
            race.endRound();
            before.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        }
        return race.winner();
    }

    /** Returns whether all had their turns before time was up; in the first round they have. */
    private boolean round(Race race) throws InterruptedException {
        boolean first = race.rounds() == 0;
        for (Contender contender : race.running()) {
            if (!first && budget.spent() >= 1) {
                return false;
            }
            Optional<long[]> turn = trials.turn(contender, PER_TURN + race.rounds() / LONGER);
            if (turn.isPresent()) {
                race.turn(contender, turn.get());
            } else {
                race.withdraw(contender);
            }
        }
        return true;
    }
}
