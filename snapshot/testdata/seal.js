// Computes the hashes in the documents of the vector files named on the command line as SF "Hash
// Calculation" does, and lays the files out. What a vector says is wrong with a hash stays wrong.
const crypto = require('crypto');
const fs = require('fs');

const sha256 = value => 'sha256:' + crypto.createHash('sha256').update(JSON.stringify(value)).digest('hex');

function seal(vector) {
  const wrong = pointer => vector.violations.some(v => v.pointer === pointer && ['hash', 'seal', 'type', 'value'].includes(v.rule));
  const document = vector.document;
  const records = Array.isArray(document.snapshots) ? document.snapshots : [];
  records.forEach((record, i) => {
    if ('hash' in record && !wrong(`/snapshots/${i}/hash`)) {
      const {id, timestamp, source, request, response} = record;
      record.hash = sha256({id, timestamp, source, request, response});
    }
  });
  if ('hash' in document && !wrong('/hash')) {
    document.hash = sha256({version: document.version, snapshots: records.map(record => record.hash)});
  }
}

for (const file of process.argv.slice(2)) {
  const {row, cases} = JSON.parse(fs.readFileSync(file, 'utf8'));
  const lines = cases.map(vector => {
    if (vector.document) seal(vector);
    const members = Object.entries(vector).map(([name, value]) => `      ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    return '    {\n' + members.join(',\n') + '\n    }';
  });
  fs.writeFileSync(file, `{\n  "row": ${JSON.stringify(row)},\n  "cases": [\n${lines.join(',\n')}\n  ]\n}\n`);
}
