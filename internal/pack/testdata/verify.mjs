// Verifies the run pack in a directory by what the specifications say, with no code of the project: run.json, session
// hashes (MIO §4.4, §4.5), seals (SF "Hash Calculation"), refs, envelopes (LC) and receipts. Prints what is wrong, a line
// each, and exits 1 where there is something.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

const [dir] = process.argv.slice(2);
const wrong = [];
const check = (holds, file, what) => { if (!holds) wrong.push(`${file}: ${what}`); };
const sha256 = data => 'sha256:' + crypto.createHash('sha256').update(data).digest('hex');
const read = file => fs.readFileSync(path.join(dir, file));
const json = file => JSON.parse(read(file).toString('utf8'));

// RFC 8785: JSON.stringify spells values as it asks for, and members are sorted by UTF-16.
const canonical = value => {
  if (Array.isArray(value)) return '[' + value.map(canonical).join(',') + ']';
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return '{' + Object.keys(value).sort().map(name => JSON.stringify(name) + ':' + canonical(value[name])).join(',') + '}';
};

function files(below = '') {
  return fs.readdirSync(path.join(dir, below), {withFileTypes: true}).flatMap(entry => {
    const file = path.posix.join(below, entry.name);
    if (entry.isDirectory()) return files(file);
    check(entry.isFile(), file, 'is no regular file');
    return entry.isFile() ? [file] : [];
  });
}

const run = json('run.json');
check(run.run_schema_version === '1.0.0', 'run.json', 'is of a version that this reader does not know');
const there = files().filter(file => file !== 'run.json').sort();
check(canonical(there) === canonical(Object.keys(run.files).sort()), 'run.json', 'names other files than there are');
for (const file of there) {
  check(sha256(read(file)) === run.files[file], file, 'has another hash than run.json says');
}

if (wrong.length > 0) end(); // what was altered need not be readable

const used = new Set(['tests.receipt', 'config.json']);
const use = file => { used.add(file); return there.includes(file); };
function ref(hash, from) {
  const file = 'refs/' + hash.replace(/^sha256:/, '');
  if (!use(file)) { wrong.push(`${from}: ${hash} does not resolve`); return null; }
  check(sha256(read(file)) === hash, file, 'is not what its name says');
  return read(file);
}

// A document: its seals, and the refs that it names, wherever a text names one.
function document({file, hash}) {
  if (!use(file)) { wrong.push(`run.json: ${file} is not there`); return new Map(); }
  const doc = json(file);
  for (const {id, timestamp, source, request, response, hash: seal} of doc.snapshots) {
    check(sha256(JSON.stringify({id, timestamp, source, request, response})) === seal, file, `${id} has another seal`);
    if (response.raw_output_ref) ref(response.raw_output_ref, `${file}: ${id}`);
    JSON.stringify([request, response], (_, value) => {
      const media = typeof value === 'string' && /^blob:(sha256:[0-9a-f]{64});[^;]*.*;\d+$/.exec(value);
      if (media) ref(media[1], `${file}: ${id}`);
      return value;
    });
  }
  const combined = sha256(JSON.stringify({version: doc.version, snapshots: doc.snapshots.map(s => s.hash)}));
  check(combined === doc.hash && combined === hash, file, 'has another combined hash');
  return new Map(doc.snapshots.map(s => [s.id, s.hash]));
}

function session({file, model_io_hash, calls}, seals, from) {
  if (!use(file)) { wrong.push(`run.json: ${file} is not there`); return; }
  const s = json(file);
  const core = {
    model_io_schema_version: s.model_io_schema_version, adapter_id: s.adapter_id, model_id: s.model_id, mode: s.mode,
    interactions: s.interactions.map(({i, prompt_hash, response_hash, response_content}) => ({i, prompt_hash, response_hash, response_content}))
      .sort((a, b) => a.i - b.i)
  };
  check(sha256(canonical(core)) === model_io_hash, file, 'has another ModelIOHash');
  s.interactions.forEach((call, n) => {
    check(call.i === n, file, `interaction ${n} has the index ${call.i}`);
    check(sha256(call.response_content) === call.response_hash, file, `interaction ${n} has another response`);
  });
  check(s.interactions.length === calls.length, file, 'has another number of calls than run.json');
  check(s.stats.total_interactions === calls.length, file, 'has other totals');
  check(s.created_at_utc <= s.ended_at_utc, file, 'ends before it begins');
  for (const call of calls) {
    check(seals.get(call.id) === call.hash, from, `${call.id} has another seal in its document`);
    if (call.output_ref) envelope(call.output_ref, from);
  }
}

function envelope(hash, from) {
  const text = ref(hash, from);
  if (!text) return;
  const said = JSON.parse(text);
  check(canonical(said) === text.toString('utf8'), hash, 'is no canonical JSON');
  if (said.reasoning_ref) ref(said.reasoning_ref, hash);
  if (said.tool_calls_ref) {
    for (const call of JSON.parse(ref(said.tool_calls_ref, hash) ?? '[]')) ref(call.arguments_ref, hash);
  }
}

const receipts = read('tests.receipt').toString('utf8').split('\n').slice(0, -1).map(line => JSON.parse(line));
for (const test of run.tests) {
  const name = `${test.package}.${test.test}`;
  const own = receipts.filter(r => r.package === test.package && r.test === test.test);
  check(own.length > 0 && own.every(r => r.receipt === 1), 'tests.receipt', `has no receipt of ${name}`);
  const outcome = ['fail', 'pass', 'skip'].find(what => own.some(r => r.outcome === what));
  check(outcome === test.outcome, 'run.json', `${name} has another outcome in its receipt`);
  check(own.reduce((n, r) => n + (r.missing ?? 0), 0) === (test.missing ?? 0), 'run.json', `${name} misses other calls`);
  const seals = test.document ? document(test.document) : new Map();
  const names = r => (r.played ?? []).concat(r.recorded ?? [], r.unplayed ?? []).length > 0;
  const same = r => r.document === test.document?.hash;
  check(own.every(r => !names(r) || same(r) || r.recorded && own.some(same)), 'tests.receipt', `names another document of ${name}`);
  const answered = new Set(own.flatMap(r => [...r.played ?? [], ...r.recorded ?? []]));
  const packed = test.session?.calls.map(call => call.id) ?? [];
  if (!test.no_session) {
    check(canonical([...answered].sort()) === canonical([...packed].sort()), 'run.json', `${name} has other calls in its receipt`);
  }
  if (test.session) session(test.session, seals, 'run.json');
}
check(receipts.every(r => run.tests.some(t => t.package === r.package && t.test === r.test)), 'run.json', 'lacks a test of the receipts');
const failed = run.tests.some(t => t.outcome === 'fail') || run.killed?.length > 0;
check((failed ? 'fail' : 'pass') === run.outcome, 'run.json', 'has another outcome than its tests');
for (const file of there) check(used.has(file), file, 'is named by nothing');

end();

function end() {
  for (const line of wrong) console.log(line);
  console.log(`${run.tests.length} tests, ${there.length + 1} files, ${wrong.length} breaches`);
  process.exit(wrong.length > 0 ? 1 : 0);
}
