// Builds the site of this version into target/site/VERSION, beside those of other versions that are there, writes
// the list of versions, and fails if a link of the pages is broken.
//   SITE_BASE   the path under which a web server shows target/site, such as /djl-plan/ (default: /)
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { LinkChecker } from 'linkinator'
import { build } from 'vitepress'

const here = fileURLToPath(new URL('.', import.meta.url))
const site = here + 'target/site/'
const base = process.env.SITE_BASE ?? '/'
const version = readFileSync(here + '../../pom.xml', 'utf8').match(/<revision>(.+)<\/revision>/)[1]

rmSync(site + version, { recursive: true, force: true })
mkdirSync(site, { recursive: true })
await build(here, { outDir: site + version, base: base + version + '/' })

const versions = readdirSync(site).filter((name) => statSync(site + name).isDirectory())
versions.sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
const items = versions.map((name) => `<li><a href="${name}/">${name}</a></li>`)
writeFileSync(
  site + 'index.html',
  `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>djl-plan: versions</title>
<h1>djl-plan</h1>
<ul>
${items.join('\n')}
</ul>
</html>
`,
)

const checker = new LinkChecker()
checker.on('link', ({ state, url, parent }) => {
  if (state === 'BROKEN') {
    console.error(`broken link in ${parent}: ${url}`)
  }
})
const { passed, links } = await checker.check({
  path: version + '/',
  serverRoot: site,
  recurse: true,
  checkFragments: true,
  linksToSkip: ['^(?!http://localhost)'],
})
console.log(`${links.length} links checked`)
process.exitCode = passed ? 0 : 1
