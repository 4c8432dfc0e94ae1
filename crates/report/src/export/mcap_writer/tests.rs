use super::*;
use mcap::{MessageStream, Summary};

/// A file with this number of messages on each of two topics, in reverse order of time on the second.
fn file(messages: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = McapWriter::new(&mut bytes, "test 1").unwrap();
    let about = BTreeMap::from([("key".to_owned(), "ü".to_owned())]);
    writer.metadata("about", &about).unwrap();
    let schema = writer.schema("A", "{}");
    let up = writer.channel(schema, "/up", &about).unwrap();
    let down = writer.channel(schema, "/down", &BTreeMap::new()).unwrap();
    for number in 0..messages {
        let text = format!("{{\"number\":{number}}}");
        let text = text.as_bytes();
        writer.message(up, 10 + number, number, text).unwrap();
        writer
            .message(down, 10_000_000 - number, number, text)
            .unwrap();
    }
    writer.finish().unwrap();
    bytes
}

#[test]
fn another_reader_reads_every_message_as_it_was_written() {
    for messages in [0, 1, 40_000] {
        let bytes = file(messages);
        let read: Vec<_> = MessageStream::new(&bytes)
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(read.len() as u64, 2 * messages);
        for (number, pair) in read.chunks(2).enumerate() {
            let number = number as u64;
            let [up, down] = pair else { panic!("no pair") };
            assert_eq!((up.log_time, up.publish_time), (10 + number, number));
            assert_eq!(down.log_time, 10_000_000 - number);
            assert_eq!(u64::from(up.sequence), number + 1);
            assert_eq!(up.channel.topic, "/up");
            assert_eq!(up.channel.metadata["key"], "ü");
            let schema = up.channel.schema.as_ref().unwrap();
            assert_eq!((&*schema.name, &*schema.encoding), ("A", "jsonschema"));
            assert_eq!(*up.data, *format!("{{\"number\":{number}}}").as_bytes());
            assert_eq!(up.data, down.data);
        }
    }
}

#[test]
fn the_summary_finds_each_chunk_and_its_messages() {
    let bytes = file(40_000);
    let summary = Summary::read(&bytes).unwrap().unwrap();
    let statistics = summary.stats.as_ref().unwrap();
    assert_eq!(statistics.message_count, 80_000);
    assert_eq!(statistics.message_start_time, 10);
    assert_eq!(statistics.message_end_time, 10_000_000);
    assert_eq!(
        statistics.channel_message_counts,
        BTreeMap::from([(0, 40_000), (1, 40_000)])
    );
    assert_eq!(statistics.chunk_count as usize, summary.chunk_indexes.len());
    assert!(summary.chunk_indexes.len() > 1);
    assert_eq!((summary.channels.len(), summary.schemas.len()), (2, 1));
    assert_eq!(summary.metadata_indexes.len(), 1);
    let mut found = 0;
    for chunk in &summary.chunk_indexes {
        let mut times = Vec::new();
        for message in summary.stream_chunk(&bytes, chunk).unwrap() {
            times.push(message.unwrap().log_time);
        }
        assert_eq!(times.iter().min(), Some(&chunk.message_start_time));
        assert_eq!(times.iter().max(), Some(&chunk.message_end_time));
        found += times.len();
        for (channel, entries) in summary.read_message_indexes(&bytes, chunk).unwrap() {
            for entry in [&entries[0], &entries[entries.len() - 1]] {
                let message = summary.seek_message(&bytes, chunk, entry).unwrap();
                assert_eq!(message.log_time, entry.log_time);
                assert_eq!(message.channel.id, channel.id);
            }
        }
    }
    assert_eq!(found, 80_000);
}
