import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const version = readFileSync(join(root, 'pom.xml'), 'utf8').match(/<revision>(.+)<\/revision>/)[1]
const readme = readFileSync(join(root, 'README.md'), 'utf8')

/** Files that pages link to and that are no pages: they are copied as they are. */
const linkedFiles = new Set()

/** The pages of the README's last section, which is the only table of contents. */
function sidebar() {
  const documents = readme.slice(readme.indexOf('## Documents'))
  return [...documents.matchAll(/^- \*\*(.+?)\*\*: (.+)$/gm)].map(([, text, links]) => ({
    text,
    items: [...links.matchAll(/\[(.+?)\]\((.+?)\)/g)]
      .map(([, name, path]) => ({ text: name[0].toUpperCase() + name.slice(1), link: '/' + toPage(path) }))
      .filter(({ link }) => link.includes('.md')),
  }))
}

/** Where a link to a file or folder of the repository leads on the site. */
function toPage(path) {
  const [file, ...anchor] = path.split('#')
  let page = file.replace(/\/$/, '')
  if (existsSync(join(root, page)) && statSync(join(root, page)).isDirectory()) {
    while (page !== '.' && !existsSync(join(root, page, 'README.md'))) {
      page = posix.dirname(page)
    }
    page = posix.join(page, 'README.md')
  }
  if (!page.endsWith('.md')) {
    linkedFiles.add(page)
    page = nameOnSite(page)
  }
  return [page.replace(/README\.md$/, 'index.md'), ...anchor].join('#')
}

/** A file without an extension, or with some others, is taken for a page. */
function nameOnSite(file) {
  return /\.(txt|json|svg|yaml)$/.test(file) ? file : file + '.txt'
}

function rewriteLinks(md) {
  md.core.ruler.push('links-of-the-repository', ({ tokens, env }) => {
    const folder = posix.dirname(env.relativePath)
    for (const token of tokens.flatMap((block) => block.children ?? [])) {
      const href = token.type === 'link_open' ? token.attrGet('href') : '#'
      if (!/^(#|[a-z]+:)/.test(href)) {
        const page = toPage(posix.join(folder, decodeURI(href)))
        token.attrSet('href', posix.join('./', posix.relative(folder, page)))
      }
    }
  })
}

/** As in the viewers of repositories, which the documents' own links are written for. */
function slugify(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** Pages are outside of this folder, where Vue is looked for when they are rendered. */
const vueOfThisFolder = {
  name: 'vue-of-this-folder',
  enforce: 'pre',
  resolveId: (id, importer, { ssr }) => (ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null),
}

export default defineConfig({
  title: 'djl-plan',
  description: 'Memory and delegation planning for the engines of Deep Java Library',
  srcDir: root,
  srcExclude: ['**/target/**', '**/node_modules/**', 'integration-tests/!(examples)/**', 'djl-*/**', 'distribution/**'],
  rewrites: (page) => page.replace(/README\.md$/, 'index.md'),
  vite: { plugins: [vueOfThisFolder] },
  markdown: { anchor: { slugify }, config: rewriteLinks },
  themeConfig: {
    search: { provider: 'local' },
    // Out of this version's folder, to the list of versions.
    nav: [{ text: version, link: '/../', target: '_self' }],
    sidebar: sidebar(),
    outline: [2, 3],
  },
  buildEnd({ outDir }) {
    for (const file of linkedFiles) {
      const copy = join(outDir, nameOnSite(file))
      mkdirSync(dirname(copy), { recursive: true })
      copyFileSync(join(root, file), copy)
    }
  },
})
