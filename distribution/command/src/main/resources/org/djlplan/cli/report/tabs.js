/* Tabs: one view is shown at a time, and each is made when it is first shown. */

/** @typedef {{ id: string, title: string, make: (report: any) => HTMLElement, part?: string }} View */

class Tabs {
  /**
   * @param {View[]} views
   * @param {any} report
   */
  constructor(views, report) {
    this.views = views;
    this.report = report;
    this.buttons = views.map((view, i) =>
      el(
        'button',
        {
          type: 'button',
          role: 'tab',
          id: `tab-${view.id}`,
          'aria-controls': `view-${view.id}`,
          class: view.part && !report[view.part] && 'absent',
          click: () => this.show(i),
          keydown: (event) => this.#key(event, i),
        },
        view.title,
      ),
    );
    this.panels = views.map((view) =>
      el('div', { role: 'tabpanel', id: `view-${view.id}`, 'aria-labelledby': `tab-${view.id}`, hidden: true }),
    );
    this.element = el('div', {}, el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' }, this.buttons), this.panels);
    const wanted = views.findIndex((view) => `#${view.id}` === location.hash);
    this.show(Math.max(0, wanted));
    addEventListener('hashchange', () => {
      const next = views.findIndex((view) => `#${view.id}` === location.hash);
      if (next >= 0) {
        this.show(next);
      }
    });
  }

  /** @param {number} wanted */
  show(wanted) {
    this.views.forEach((view, i) => {
      const shown = i === wanted;
      this.buttons[i].setAttribute('aria-selected', String(shown));
      this.buttons[i].tabIndex = shown ? 0 : -1;
      this.panels[i].hidden = !shown;
      if (shown && !this.panels[i].hasChildNodes()) {
        this.panels[i].append(attempted(() => view.make(this.report)));
      }
    });
    // In the next frame, when the first view is in the page, too.
    requestAnimationFrame(() => {
      const { left, width } = this.buttons[wanted].getBoundingClientRect();
      const bar = /** @type {HTMLElement} */ (this.buttons[wanted].parentElement);
      const middle = left - bar.getBoundingClientRect().left + (width - bar.clientWidth) / 2;
      bar.scrollLeft += middle;
    });
  }

  /**
   * @param {KeyboardEvent} event
   * @param {number} i
   */
  #key(event, i) {
    const last = this.views.length - 1;
    const next = { ArrowRight: i === last ? 0 : i + 1, ArrowLeft: i === 0 ? last : i - 1, Home: 0, End: last }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      this.show(next);
      this.buttons[next].focus();
    }
  }
}

/**
 * Makes a view; returns an error message instead if it fails, so that other views still work.
 * @param {() => HTMLElement} make
 * @returns {HTMLElement}
 */
function attempted(make) {
  try {
    return make();
  } catch (error) {
    return failure(error);
  }
}
