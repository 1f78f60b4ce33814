// Judges the answers of models to the cases beside this file: node judge.mjs answers.jsonl
import { readFileSync, readdirSync } from 'node:fs';

const here = new URL('.', import.meta.url);
const cases = new Map();
for (const file of readdirSync(here).filter((name) => name.endsWith('.json'))) {
  const c = JSON.parse(readFileSync(new URL(file, here), 'utf8'));
  cases.set(c.name, c);
}

function isJSON(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function holds(what, { response, chunks }) {
  let [rule, ...rest] = what.split(':');
  const argument = rest.join(':');
  let parts = response.message.content;
  if (rule.startsWith('stream-')) {
    rule = rule.slice('stream-'.length);
    parts = chunks.flatMap((chunk) => chunk.content);
  }
  const text = parts.map((part) => part.text ?? '').join('');
  switch (rule) {
    case 'has-tool-request':
      return parts.some((part) => part.toolRequest?.name === argument && !part.toolRequest.partial);
    case 'valid-json':
      return isJSON(text);
    case 'text-includes':
      return text.toLowerCase().includes(argument.toLowerCase());
    case 'text-starts-with':
      return text.trim().startsWith(argument);
    case 'text-not-empty':
      return text.trim() !== '';
    case 'valid-media':
      return parts.some((part) => part.media?.contentType?.startsWith(argument + '/'));
  }
  throw new Error(`unknown rule ${what}`);
}

let judged = 0;
let failed = 0;
for (const line of readFileSync(process.argv[2], 'utf8').split('\n').filter(Boolean)) {
  const answer = JSON.parse(line);
  const c = cases.get(answer.case);
  if (!c) throw new Error(`unknown case ${answer.case}`);
  judged++;
  for (const what of c.holds.filter((what) => !holds(what, answer))) {
    failed++;
    console.log(`${answer.by}: ${answer.case}: ${what} does not hold`);
  }
}
console.log(`${judged} answers, ${failed} breaches`);
process.exitCode = failed > 0 ? 1 : 0;
