/* The memory map with its controls: the choice of plans, the search, and the live tensors. */

const MOST_ALIVE = 60;

class MapView {
  /** @param {any} report */
  constructor(report) {
    const { plan } = report;
    this.report = report;
    this.plan = plan;
    this.common = commonBytes(plan);
    const extent = Math.max(...plan.strategies.map((strategy) => strategy.totalBytes));
    /** @type {Map<any, Scene>} */
    this.scenes = new Map();
    const strategy = bestStrategy(plan);
    const scene = this.#scene(strategy);
    this.view = new Viewport(scene.steps, Math.max(extent, ...plan.breadthBytes.slice(0, 1), this.common));
    this.view.fit(this.common);
    this.panel = new MapPanel(scene, this.view, `Memory map: ${stepWord(plan)} across, addresses up`, {
      choose: (index) => this.#chosen(index),
      moved: () => this.#moved(),
    });
    this.panel.state.boundBytes = boundOf(plan, strategy);
    this.details = el('section', { class: 'details', 'aria-label': 'What is selected' });
    this.more = el('button', { type: 'button', class: 'more', hidden: true, click: () => this.panel.fit(this.panel.scene.totalBytes) });
    this.found = el('span', { class: 'found', role: 'status' });
    /** @type {number[]} */
    this.matches = [];
    this.match = -1;
    this.term = '';
    this.element = this.#layout(strategy);
    this.#describe(-1);
    this.#moved();
  }

  /**
   * @param {any} strategy
   * @returns {Scene}
   */
  #scene(strategy) {
    let scene = this.scenes.get(strategy);
    if (!scene) {
      scene = new Scene(this.plan, strategy);
      this.scenes.set(strategy, scene);
    }
    return scene;
  }

  /** @param {any} strategy */
  #layout(strategy) {
    const { panel } = this;
    this.keys = this.#legend();
    return el(
      'div',
      { class: 'mapview' },
      el(
        'div',
        { class: 'picture' },
        this.#toolbar(),
        el('div', { class: 'stage' }, panel.element, this.more),
        el(
          'div',
          { class: 'under' },
          this.keys,
          el(
            'p',
            { class: 'hint' },
            'Wheel or + and − to zoom, drag or Shift with arrows to move. Arrows walk from tensor to tensor, P goes to the peak, Esc lets go.',
          ),
        ),
      ),
      el('aside', { class: 'side', 'aria-label': 'Plans and tensors' }, this.#chooser(strategy), this.details),
      el('div', { class: 'tables' }, tensorTable(this.plan), strategyTable(this.plan), operatorTable(this.plan)),
    );
  }

  /**
   * @returns {HTMLElement} the legend of the shown plan, with only the owners that have places in
   *   it
   */
  #legend() {
    const { scene, state } = this.panel;
    const owners = new Set(scene.tensors.filter((_, i) => scene.placed[i] === 1).map((tensor) => ownerOf(tensor.owner ?? 'arena').colour));
    const entries = [...OWNERS.values()].filter(
      (owner, i, all) => owners.has(owner.colour) && all.findIndex((each) => each.colour === owner.colour) === i,
    );
    return legend([
      ...entries,
      { label: 'alive at each step', colour: 'curve', look: 'line' },
      ...(state.boundBytes > 0 ? [{ label: 'lower bound', colour: 'bound', look: /** @type {const} */ ('dashed') }] : []),
      { label: 'unused at this step', colour: 'gap', look: 'hatch' },
    ]);
  }

  #toolbar() {
    const { panel } = this;
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
    const toggle = (text, key) => {
      const box = el('input', {
        type: 'checkbox',
        change: () => {
          panel.state[key] = box.checked;
          panel.repaint();
        },
      });
      box.checked = true;
      return el('label', { class: 'check' }, box, text);
    };
    return el(
      'div',
      { class: 'toolbar' },
      el('div', { class: 'search' }, search, this.found),
      el(
        'div',
        { class: 'buttons', role: 'group', 'aria-label': 'Zoom' },
        button('zoom-out', '−', 'Zoom out', () => panel.zoom(ZOOM_STEP)),
        button('zoom-in', '+', 'Zoom in', () => panel.zoom(1 / ZOOM_STEP)),
        button('fit-plans', 'Plans', 'Fit the planned arenas', () => panel.fit(this.common)),
        button('fit-all', 'All', 'Fit everything, naive too', () => panel.fit(this.view.bytes)),
      ),
      el('div', { class: 'checks' }, toggle('Breadth', 'breadth'), toggle('Gaps', 'gaps')),
    );
  }

  /**
   * Draws plans as bars at one scale, with a line at the lower bound. The scale ends at twice the
   * best plan, and larger plans are cut off: at the scale of a naive plan the best would be a dot.
   * @param {any} chosen
   */
  #chooser(chosen) {
    const largest = Math.max(1, ...this.plan.strategies.map((strategy) => strategy.totalBytes));
    const most = Math.min(largest, 2 * Math.max(1, bestStrategy(this.plan).totalBytes));
    const share = (/** @type {number} */ value) => `${Math.min(100, (100 * value) / most)}%`;
    const plans = el('fieldset', { class: 'plans' }, el('legend', {}, 'Plan'));
    plans.append(
      ...this.plan.strategies.map((strategy, i) => {
        const radio = el('input', { type: 'radio', name: 'plan', id: `plan-${i}`, change: () => this.choosePlan(strategy) });
        radio.checked = strategy === chosen;
        const bar = el('span', { class: `bar ${strategy.layout === 'naive' ? 'naive' : ''} ${strategy.totalBytes > most ? 'goes-on' : ''}`, 'aria-hidden': 'true' });
        bar.style.setProperty('--share', share(strategy.totalBytes));
        bar.style.setProperty('--bound-at', share(boundOf(this.plan, strategy)));
        return el(
          'label',
          { class: 'plan' },
          radio,
          el(
            'span',
            { class: 'plan-text' },
            named(strategy.name, 34),
            el('span', { class: 'plan-size' }, strategy.provedMinimal && minimalBadge(true), strategy.valid === false && el('span', { class: 'bad' }, 'invalid'), bytes(strategy.totalBytes)),
          ),
          bar,
        );
      }),
    );
    requestAnimationFrame(() => {
      const label = plans.querySelector('label:has(input:checked)');
      plans.scrollTop += label ? Math.max(0, label.getBoundingClientRect().bottom - plans.getBoundingClientRect().bottom + 8) : 0;
    });
    return plans;
  }

  /** @param {any} strategy the new plan; viewport and scale do not change */
  choosePlan(strategy) {
    const { panel } = this;
    const selected = panel.state.selected;
    panel.state.boundBytes = boundOf(this.plan, strategy);
    panel.show(this.#scene(strategy));
    const keys = this.#legend();
    this.keys.replaceWith(keys);
    this.keys = keys;
    if (selected >= 0 && panel.scene.placed[selected] === 1) {
      panel.select(selected);
    }
    this.#search(this.term);
    this.#describe(panel.state.selected);
    this.#moved();
    announce(`Plan ${shortened(strategy.name)}: ${bytes(strategy.totalBytes)}${strategy.provedMinimal ? ', proved minimal' : ''}`);
  }

  /** Shows a note if the plan continues above the picture. */
  #moved() {
    const { scene } = this.panel;
    const hidden = scene.totalBytes > this.common && scene.totalBytes > this.view.high;
    this.more.hidden = !hidden;
    if (hidden) {
      this.more.textContent = `↑ goes on to ${bytes(scene.totalBytes)}: show all of it`;
    }
  }

  /** @param {string} term */
  #search(term) {
    this.term = term;
    const { panel, plan } = this;
    const wanted = term.trim().toLowerCase();
    if (wanted === '') {
      this.matches = [];
      this.match = -1;
      this.found.textContent = '';
      panel.state.lit = panel.state.selected >= 0 ? panel.scene.overlapping(panel.state.selected) : null;
    } else {
      this.matches = [];
      plan.tensors.forEach((tensor, i) => {
        const type = plan.operators[tensor.producer] ?? '';
        if (panel.scene.placed[i] === 1 && [tensor.name, type].some((text) => text.toLowerCase().includes(wanted))) {
          this.matches.push(i);
        }
      });
      this.match = -1;
      this.found.textContent = `${counted(this.matches.length, 'match', 'matches')}${this.matches.length > 0 ? ', Enter goes there' : ''}`;
      panel.state.selected = -1;
      panel.state.lit = new Set(this.matches);
    }
    panel.repaint();
  }

  /** @param {number} by */
  #nextMatch(by) {
    const { matches, panel } = this;
    if (matches.length > 0) {
      this.match = (this.match + by + matches.length) % matches.length;
      const index = matches[this.match];
      panel.select(index);
      panel.state.lit = new Set(matches);
      this.#chosen(index);
      this.found.textContent = `${count(this.match + 1)} of ${count(matches.length)}`;
    }
  }

  /** @param {number} index */
  #chosen(index) {
    this.#describe(index);
    announceTensor(this.panel, index);
  }

  /** @param {number} index */
  #describe(index) {
    const { state } = this.panel;
    this.details.replaceChildren(...(index >= 0 ? [this.#tensor(index)] : []), this.#alive(state.step, index));
  }

  /** @param {number} index */
  #tensor(index) {
    const { scene } = this.panel;
    const tensor = scene.tensors[index];
    const consumers = tensor.consumers ?? [];
    return el(
      'div',
      { class: 'tensor' },
      el('h2', {}, wholeName(tensor.name)),
      factList([
        ['size', exactBytes(tensor.bytes)],
        ['type', scene.arrayType(index)],
        ['alive', `steps ${scene.stepNumber(scene.first[index])}–${scene.stepNumber(scene.last[index])}`],
        ['offset', exactBytes(scene.offset[index])],
        ['owner', ownerOf(tensor.owner ?? 'arena').label],
        ['made by', Number.isInteger(tensor.producer) && scene.operatorName(tensor.producer)],
        ['used by', consumers.length > 0 && `${consumers.slice(0, 12).map((each) => scene.operatorName(each)).join(', ')}${consumers.length > 12 ? ` and ${consumers.length - 12} more` : ''}`],
        ['shares the place of', Number.isInteger(tensor.alias) && named(scene.tensors[tensor.alias].name)],
        ['alive beside it', counted(scene.overlapping(index).size, 'tensor')],
      ]),
    );
  }

  /** @param {number} index */
  #who(index) {
    const { scene } = this.panel;
    const { name } = scene.tensors[index];
    const label = scene.label(index);
    return el('span', { class: 'who' }, named(label, 26), label !== name && el('span', { class: 'quiet' }, ` ${shortened(name, 26)}`));
  }

  /**
   * @param {number} step
   * @param {number} selected
   */
  #alive(step, selected) {
    const { scene } = this.panel;
    if (scene.steps === 0) {
      return emptyState('This plan has no operators, and nothing to place.', '');
    }
    const alive = scene.aliveAt(step);
    const unused = scene.gapsAt(step).reduce((sum, gap) => sum + gap.bytes, 0);
    const most = Math.max(1, scene.bytes[alive[0]] ?? 1);
    return el(
      'div',
      { class: 'alive' },
      el('h2', {}, step === scene.peak ? 'Alive at the peak' : 'Alive at', ' ', el('span', { class: 'quiet' }, scene.stepName(step))),
      el('p', {}, `${counted(alive.length, 'tensor')}, ${bytes(scene.breadth[step] ?? 0)}; ${bytes(unused)} of the arena unused`),
      el(
        'ol',
        { class: 'alive-list' },
        alive.slice(0, MOST_ALIVE).map((i) => {
          const bar = el('span', { class: 'bar thin', 'aria-hidden': 'true' });
          bar.style.setProperty('--share', `${(100 * scene.bytes[i]) / most}%`);
          bar.style.setProperty('--bar', `var(--${ownerOf(scene.tensors[i].owner ?? 'arena').colour})`);
          return el(
            'li',
            {},
            el(
              'button',
              {
                type: 'button',
                'aria-pressed': String(i === selected),
                click: () => {
                  this.panel.select(i, step);
                  this.#chosen(i);
                },
              },
              this.#who(i),
              el('span', { class: 'plan-size' }, bytes(scene.bytes[i])),
              bar,
            ),
          );
        }),
      ),
      alive.length > MOST_ALIVE && el('p', { class: 'quiet' }, `and ${count(alive.length - MOST_ALIVE)} smaller ones`),
    );
  }
}

/**
 * @param {boolean} short
 * @returns {HTMLElement}
 */
function minimalBadge(short) {
  return el('span', { class: 'badge', title: 'No plan with this order and these sizes can be smaller' }, short ? 'minimal' : 'proved minimal');
}

/**
 * Announces the selection of a map to screen readers: a tensor, or else a step.
 * @param {MapPanel} panel
 * @param {number} index -1 for none
 */
function announceTensor(panel, index) {
  const { scene, state } = panel;
  if (index < 0) {
    announce(`${scene.stepName(state.step)}: ${counted(scene.aliveAt(state.step).length, 'tensor')} alive, ${bytes(scene.breadth[state.step] ?? 0)}`);
    return;
  }
  const tensor = scene.tensors[index];
  announce(
    `Tensor ${shortened(tensor.name)}: ${arrayType(tensor.shape, tensor.type)}, ${bytes(tensor.bytes)}, steps ${scene.stepNumber(scene.first[index])} to ${scene.stepNumber(scene.last[index])}, ` +
      `offset ${bytes(scene.offset[index])}, ${ownerOf(tensor.owner ?? 'arena').label}, ${counted(scene.overlapping(index).size, 'other')} alive at the same time`,
  );
}
