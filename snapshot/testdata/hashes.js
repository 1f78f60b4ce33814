// Prints, for each file named on the command line, what SF "Hash Calculation" computes from
// it, and whether JSON.stringify lays it out as it is. The two calculations are those of the
// specification, word for word.
const crypto = require('crypto');
const fs = require('fs');

function individual(snapshot) {
  const snapshotData = {
    id: snapshot.id,
    timestamp: snapshot.timestamp,
    source: snapshot.source,
    request: snapshot.request,
    response: snapshot.response
  };

  const hash = crypto
    .createHash('sha256')
    .update(JSON.stringify(snapshotData))
    .digest('hex');
  return hash;
}

function combined(snapshots) {
  const allSnapshotsData = {
    version: snapshots.version,
    snapshots: snapshots.snapshots.map(s => s.hash)
  };

  const combinedHash = crypto
    .createHash('sha256')
    .update(JSON.stringify(allSnapshotsData))
    .digest('hex');
  return combinedHash;
}

for (const file of process.argv.slice(2)) {
  const text = fs.readFileSync(file, 'utf8');
  const parsed = JSON.parse(text);
  console.log(JSON.stringify({
    individual: parsed.snapshots.map(s => s.request ? individual(s) : null),
    combined: combined(parsed),
    laidOut: JSON.stringify(parsed, null, 2) + '\n' === text
  }));
}
