// Writes into the files named on the command line the hashes that SF "Hash Calculation" computes of them. The text stays as
// the program that it stands for spells it: only what follows "hash": changes. A hash that says "wrong" stays.
const crypto = require('crypto');
const fs = require('fs');

const digits = value => crypto.createHash('sha256').update(JSON.stringify(value)).digest('hex');
const sealOf = ({id, timestamp, source, request, response}) => digits({id, timestamp, source, request, response});

for (const file of process.argv.slice(2)) {
  let text = fs.readFileSync(file, 'utf8');
  const document = JSON.parse(text);
  const lone = !document.snapshots;
  const prefix = text.includes('"sha256:') ? 'sha256:' : '';
  const seals = (lone ? [document] : document.snapshots).map(record => prefix + sealOf(record));
  const stated = lone ? seals : [...seals, prefix + digits({version: document.version, snapshots: seals})];
  text = text.replace(/("hash"\s*:\s*")([^"]*)"/g, (whole, before, was) => {
    const next = stated.shift();
    return was.startsWith('wrong') || next === undefined ? whole : `${before}${next}"`;
  });
  fs.writeFileSync(file, text);
}
