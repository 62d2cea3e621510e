/* The memory map with its controls: the choice of plans, the search, and the live tensors. */

const MOST_ALIVE = 60;

class MapView {
  constructor(plan) {
    this.plan = plan;
    this.common = commonBytes(plan);
    this.map = new MemoryMap(plan, `Memory map: ${stepWord(plan)} across, addresses up`, {
      shown: this.common,
      all: Math.max(largestBytes(plan), this.common),
      choose: () => this.#chosen(),
    });
    this.details = el('section', { class: 'details', 'aria-label': 'What is selected' });
    this.found = el('span', { class: 'found', role: 'status' });
    this.matches = [];
    this.match = -1;
    this.term = '';
    this.keys = el('div');
    const hint = 'Wheel or + and − to zoom, drag or Shift with arrows to move. Arrows walk from tensor to tensor, P goes to the peak, Esc lets go.';
    this.element = el(
      'div',
      { class: 'mapview' },
      el('div', { class: 'picture' }, this.#toolbar(), this.map.element, this.keys, el('p', { class: 'hint' }, hint)),
      el('aside', { class: 'side', 'aria-label': 'Plans and tensors' }, this.#chooser(), this.details),
      el('div', { class: 'tables' }, tensorTable(plan), strategyTable(plan), operatorTable(plan)),
    );
    this.#shown();
  }

  /** Updates what depends on the plan: the legend, with only the owners that have places in it, and the details. */
  #shown() {
    const owners = new Set(this.map.boxes.map((box) => ownerOf(box.tensor).label));
    this.keys.replaceChildren(
      legend([
        ...Object.keys(OWNERS).filter((label) => owners.has(label)).map((label) => ({ label, colour: OWNERS[label] })),
        { label: 'alive at each step', colour: 'curve', look: 'line' },
        this.map.bound > 0 && { label: 'lower bound', colour: 'bound', look: 'dashed' },
        { label: 'unused at this step', colour: 'gap', look: 'hatch' },
      ]),
    );
    this.#describe();
  }

  #toolbar() {
    const { map } = this;
    const search = el('input', {
      type: 'search',
      id: 'search',
      placeholder: 'Find a tensor',
      'aria-label': 'Find a tensor by its name or the operator that makes it',
      autocomplete: 'off',
      spellcheck: 'false',
      input: () => this.#search(search.value),
      keydown: (event) => event.key === 'Enter' && this.#nextMatch(event.shiftKey ? -1 : 1),
    });
    const button = (id, text, label, click) => el('button', { type: 'button', id, 'aria-label': label, title: label, click }, text);
    return el(
      'div',
      { class: 'toolbar' },
      el('div', { class: 'search' }, search, this.found),
      el(
        'div',
        { class: 'buttons', role: 'group', 'aria-label': 'Zoom' },
        button('zoom-out', '−', 'Zoom out', () => map.zoom(ZOOM_STEP)),
        button('zoom-in', '+', 'Zoom in', () => map.zoom(1 / ZOOM_STEP)),
        button('fit-plans', 'Plans', 'Fit the planned arenas', () => map.fit(this.common)),
        button('fit-all', 'All', 'Fit everything, naive too', () => map.fit(map.address.size)),
      ),
    );
  }

  /**
   * Draws plans as bars at one scale, with a line at the lower bound. The scale ends at twice the
   * best plan, and larger plans are cut off: at the scale of a naive plan the best would be a dot.
   */
  #chooser() {
    const { plan } = this;
    const most = Math.min(largestBytes(plan), 2 * Math.max(1, bestStrategy(plan).totalBytes));
    const plans = plan.strategies.map((strategy) => {
      const { name, layout, totalBytes, valid, provedMinimal } = strategy;
      const radio = el('input', { type: 'radio', name: 'plan', checked: strategy === this.map.strategy, change: () => this.#choosePlan(strategy) });
      const length = bar(totalBytes / most, layout === 'naive' ? 'edge' : 'arena', totalBytes > most ? 'goes-on' : '');
      length.style.setProperty('--bound-at', `${Math.min(100, (100 * boundOf(plan, strategy)) / most)}%`);
      const size = [provedMinimal && minimalBadge('minimal'), valid === false && el('span', { class: 'bad' }, 'invalid'), bytes(totalBytes)];
      return el('label', { class: 'plan' }, radio, el('span', { class: 'plan-text' }, named(name, 34), el('span', { class: 'plan-size' }, size)), length);
    });
    return el('fieldset', { class: 'plans' }, el('legend', {}, 'Plan'), plans);
  }

  /** Shows another plan; the shown part of time and addresses does not change. */
  #choosePlan(strategy) {
    const { map } = this;
    const selected = map.selected;
    map.show(strategy);
    if (selected && map.boxOf(selected.tensor)) {
      map.select(map.boxOf(selected.tensor));
    }
    this.#search(this.term);
    this.#shown();
    announce(`Plan ${shortened(strategy.name)}: ${bytes(strategy.totalBytes)}${strategy.provedMinimal ? ', proved minimal' : ''}`);
  }

  #search(term) {
    const { map, plan } = this;
    const wanted = term.trim().toLowerCase();
    if (wanted !== '') {
      const matches = ({ tensor }) => [tensor.name, plan.operators[tensor.producer] ?? ''].some((each) => each.toLowerCase().includes(wanted));
      this.matches = map.boxes.filter(matches).sort((a, b) => a.index - b.index);
      map.selected = null;
      map.lit = new Set(this.matches);
      this.found.textContent = `${counted(this.matches.length, 'match', 'matches')}${this.matches.length > 0 ? ', Enter goes there' : ''}`;
    } else if (this.term !== '') {
      this.matches = [];
      map.select(map.selected);
      this.found.textContent = '';
    }
    this.match = -1;
    this.term = term;
    map.repaint();
  }

  #nextMatch(by) {
    const { matches, map } = this;
    if (matches.length > 0) {
      this.match = (this.match + by + matches.length) % matches.length;
      map.choose(matches[this.match]);
      map.lit = new Set(matches);
      this.found.textContent = `${count(this.match + 1)} of ${count(matches.length)}`;
    }
  }

  #chosen() {
    this.#describe();
    announceTensor(this.map);
  }

  #describe() {
    const { selected } = this.map;
    this.details.replaceChildren(...(selected ? [this.#tensor(selected)] : []), this.#alive());
  }

  #tensor(box) {
    const { map, plan } = this;
    const { tensor } = box;
    return el(
      'div',
      { class: 'tensor' },
      el('h2', {}, wholeName(tensor.name)),
      factList([
        ['size', exactBytes(tensor.bytes)],
        ['type', map.arrayType(box)],
        ['alive', map.lifetime(box)],
        ['offset', exactBytes(box.low)],
        ['owner', ownerOf(tensor).label],
        ['made by', Number.isInteger(tensor.producer) && operatorName(plan, tensor.producer)],
        ['used by', map.users(box, 12) || null],
        ['shares the place of', Number.isInteger(tensor.alias) && named(plan.tensors[tensor.alias].name)],
        ['alive beside it', counted(map.overlapping(box).length, 'tensor')],
      ]),
    );
  }

  #alive() {
    const { map, plan } = this;
    const { step } = map;
    if (map.steps === 0) {
      return emptyState('This plan has no operators, and nothing to place.');
    }
    const alive = map.aliveAt(step);
    const unused = map.gapsAt(step).reduce((sum, [from, to]) => sum + to - from, 0);
    const most = Math.max(1, alive[0]?.tensor.bytes ?? 1);
    const row = (box) => {
      const { tensor } = box;
      const label = map.label(box);
      const click = () => map.choose(box, step);
      const who = el('span', { class: 'who' }, named(label, 26), label !== tensor.name && el('span', { class: 'quiet' }, ` ${shortened(tensor.name, 26)}`));
      const size = el('span', { class: 'plan-size' }, bytes(tensor.bytes));
      const length = bar(tensor.bytes / most, ownerOf(tensor).colour, 'thin');
      return el('li', {}, el('button', { type: 'button', 'aria-pressed': String(box === map.selected), click }, who, size, length));
    };
    return el(
      'div',
      { class: 'alive' },
      el('h2', {}, step === map.peak ? 'Alive at the peak' : 'Alive at', ' ', el('span', { class: 'quiet' }, map.stepName(step))),
      el('p', {}, `${counted(alive.length, 'tensor')}, ${bytes(plan.breadthBytes[step])}; ${bytes(unused)} of the arena unused`),
      el('ol', { class: 'alive-list' }, alive.slice(0, MOST_ALIVE).map(row)),
      alive.length > MOST_ALIVE && el('p', { class: 'quiet' }, `and ${count(alive.length - MOST_ALIVE)} smaller ones`),
    );
  }
}
