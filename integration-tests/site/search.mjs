// Searches the site that build.mjs made, in a headless Chromium without a network, and follows the first result.
//   CHROMEDRIVER, CHROMIUM   programs (default: Debian's)
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const version = readFileSync(here + '../../pom.xml', 'utf8').match(/<revision>(.+)<\/revision>/)[1]
const types = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

const server = createServer(({ url }, response) => {
  const path = new URL(url, 'http://localhost').pathname.replace(/\/$/, '/index.html')
  const file = createReadStream(here + 'target/site' + path)
  file.on('error', () => response.writeHead(404).end())
  response.setHeader('Content-Type', types[path.split('.').pop()] ?? 'application/octet-stream')
  file.pipe(response)
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const site = `http://127.0.0.1:${server.address().port}/${version}/`

const driver = spawn(process.env.CHROMEDRIVER ?? '/usr/bin/chromedriver', ['--port=0'])
const port = await new Promise((found, failed) => {
  driver.on('exit', () => failed(new Error('chromedriver has ended')))
  driver.stdout.on('data', (text) => /successfully on port (\d+)/.test(text) && found(RegExp.$1))
})

/** Sends a command of the W3C's WebDriver protocol. */
async function send(path, body) {
  const request = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`http://127.0.0.1:${port}/session${path}`, request)
  const { value } = await response.json()
  assert.ok(response.ok, JSON.stringify(value))
  return value
}

try {
  const { sessionId } = await send('', {
    capabilities: {
      alwaysMatch: {
        timeouts: { implicit: 20_000 },
        'goog:chromeOptions': {
          binary: process.env.CHROMIUM ?? '/usr/bin/chromium',
          // No host but the server's has an address.
          args: ['--headless=new', '--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
        },
      },
    },
  })
  const element = async (css) =>
    Object.values(await send(`/${sessionId}/element`, { using: 'css selector', value: css }))[0]
  const click = async (css) => send(`/${sessionId}/element/${await element(css)}/click`, {})
  try {
    await send(`/${sessionId}/url`, { url: site })
    await click('.DocSearch-Button')
    await send(`/${sessionId}/element/${await element('.search-input')}/value`, { text: 'mimalloc' })
    await click('.results a[href*="alternatives"]')
    await element('main h2#pytorch-memory-of-many-threads')
    const url = await send(`/${sessionId}/url`)
    assert.ok(url.startsWith(`${site}docs/alternatives.html`), url)
    console.log(`found ${url.slice(site.length)}`)
  } finally {
    await fetch(`http://127.0.0.1:${port}/session/${sessionId}`, { method: 'DELETE' })
  }
} finally {
  driver.removeAllListeners('exit')
  driver.kill()
  server.close()
}
