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
    static final int PER_TURN = 3;

    /**
     * After so many rounds turns get longer by one inference: who is left is hard to tell apart.
     */
    private static final int LONGER = 10;

    /** So many rounds, even if time is up: one inference each then. */
    private static final int LEAST = 3;

    /** If time is up, what seems so many times slower than the leader is given up. */
    private static final double GIVEN_UP = 1.25;

    private final Trials trials;
    private final Preference preference;
    private final Budget budget;

    Rounds(Trials trials, Preference preference, Budget budget) {
        this.trials = trials;
        this.preference = preference;
        this.budget = budget;
    }

    /**
     * Races contenders until one is left, or a part of the time is up. Each has at least one turn;
     * those that are not eligible have no more, which is enough to show them in the table.
     *
     * @return the winner; empty if none is eligible
     */
    Optional<Contender> race(List<Contender> contenders, double part) throws InterruptedException {
        Race race = new Race(contenders, preference::weight);
        round(race, part);
        List<Contender> eligible = preference.eligible(race.running());
        contenders.stream().filter(c -> !eligible.contains(c)).forEach(race::withdraw);
        endRound(race, part);
        contenders.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        while (race.rounds() < MOST && !race.settled() && round(race, part)) {
            List<Contender> before = race.running();
            endRound(race, part);
            before.stream().filter(c -> !race.running().contains(c)).forEach(trials::release);
        }
        return race.winner();
    }

    private void endRound(Race race, double part) {
        race.endRound();
        if (budget.spent() >= part) {
            race.hurry(GIVEN_UP);
        }
    }

    /** Returns whether all had their turns before time was up; in the first rounds they have. */
    private boolean round(Race race, double part) throws InterruptedException {
        boolean needed = race.rounds() < LEAST;
        for (Contender contender : race.running()) {
            boolean late = budget.spent() >= part;
            if (!needed && late) {
                return false;
            }
            int least = late && race.rounds() > 0 ? 1 : PER_TURN + race.rounds() / LONGER;
            Optional<long[]> turn = trials.turn(contender, least);
            if (turn.isPresent()) {
                race.turn(contender, turn.get());
            } else {
                race.withdraw(contender);
            }
        }
        return true;
    }
}
